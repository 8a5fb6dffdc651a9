import { Effect } from "effect"
import type pg from "pg"
import { withProgress } from "../../tools/local/ConsoleProgress.ts"
import { vacuumAndCheckpoint } from "../database.ts"
import { alternate } from "../support/alternation.ts"
import { makeQuantile } from "../support/latencySummary.ts"
import { runAtRate } from "../support/pacing.ts"
import type { QueueFixture, QueuePart, ReceivingTenant } from "./queuePart.ts"

const tenantCount = 500
const integrationCount = 50_000
const perSecond = 50
const measuredSeconds = 6
/** PostgreSQL writes for a while after many rows were inserted or deleted. */
const warmUpSeconds = 4

/** Half of the integrations in one tenant, half spread over many. Each has a delivery due tomorrow. */
const insertPending = async (client: pg.Client) => {
  const owner = `'tnt_pending' || case when n % 2 = 0 then 0 else n % ${tenantCount} end`
  const rows = `from generate_series(1, ${integrationCount}) n`
  const stamps = "now(), now(), 1"
  await client.query("begin")
  await client.query(
    `insert into tenants (id, name, created_at, updated_at, sequence)
     select 'tnt_pending' || n, 'Pending', ${stamps} from generate_series(0, ${tenantCount - 1}) n`
  )
  await client.query(
    `insert into integrations (tenant_id, id, provider, name, status, is_authorized, config, subscriptions, latency_class,
       created_at, updated_at, sequence)
     select ${owner}, 'int_pending' || n, 'WEBHOOK', 'Pending', 'ACTIVE', true, '{"url":"http://127.0.0.1:9"}', '[]',
       'PROVEN', ${stamps} ${rows}`
  )
  await client.query(
    `insert into events (tenant_id, id, type, resource_id, sequence, occurred_at, data)
     select ${owner}, 'evt_pending' || n, 'client.created', 'clnt_pending' || n, 1, now(), '{}' ${rows}`
  )
  await client.query("delete from outbox where event_id like 'evt_pending%'")
  await client.query(
    `insert into deliveries (tenant_id, id, integration_id, event_id, event_type, resource_id, sequence, status,
       next_attempt_at, created_at, updated_at)
     select ${owner}, 'dlv_pending' || n, 'int_pending' || n, 'evt_pending' || n, 'client.created', 'clnt_pending' || n, 1,
       'PENDING', now() + interval '1 day', now(), now() ${rows}`
  )
  await client.query("commit")
}

const deletePending = async (client: pg.Client) => {
  for (const table of ["deliveries", "integrations", "events"])
    await client.query(`delete from ${table} where tenant_id like 'tnt_pending%'`)
  await client.query("delete from tenants where id like 'tnt_pending%'")
}

/** p95 from commit to receiver in milliseconds; infinite when a delivery is missing. */
const measureP95 = async ({ receivers }: QueueFixture, tenant: ReceivingTenant, seconds: number) => {
  const { count } = await runAtRate(perSecond, seconds, tenant.createClient)
  const arrivals = await receivers.waitForArrivals(count)
  if (arrivals.length < count) return Number.POSITIVE_INFINITY
  return makeQuantile(arrivals.map(({ arrivedAt, occurredAt }) => arrivedAt - occurredAt))(0.95)
}

export const pendingDeliveries: QueuePart = {
  name: "pending",
  measure: (fixture) =>
    Effect.gen(function* () {
      const { client, rounds } = fixture
      const tenant = yield* fixture.createTenant
      const warmUp = Effect.promise(() => measureP95(fixture, tenant, warmUpSeconds))
      const measurement = Effect.promise(() => measureP95(fixture, tenant, measuredSeconds))
      yield* withProgress("Warming up", warmUp, (p95) => `Warmed up, p95 ${p95.toFixed(0)} ms`)
      let isInserted = false
      const switchTo = (hasPending: boolean) =>
        Effect.gen(function* () {
          if (hasPending === isInserted) return
          isInserted = hasPending
          yield* Effect.promise(() => (hasPending ? insertPending(client) : deletePending(client)))
          yield* vacuumAndCheckpoint(client)
          yield* warmUp
        })
      const label = `${integrationCount.toLocaleString("en")} integrations with something pending`
      const results = yield* alternate([true, false], rounds, (hasPending, round) => {
        const progress = `${round} of ${rounds}, ${hasPending ? "with" : "without"} ${label}`
        return Effect.zipRight(
          switchTo(hasPending),
          withProgress(
            progress,
            Effect.map(measurement, (p95) => ({ wanted: hasPending, p95 })),
            ({ p95 }) => `${progress}: p95 ${p95.toFixed(0)} ms`
          )
        )
      })
      const selectP95 = (hasPending: boolean) => results.flatMap((one) => (one.wanted === hasPending ? [one.p95] : []))
      return [
        {
          description: `commit to receiver, with ${label} and without`,
          unit: "ms p95",
          values: selectP95(true),
          baselines: selectP95(false),
          bound: { max: 1.25 }
        }
      ]
    })
}
