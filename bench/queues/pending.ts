import { Effect } from "effect"
import type pg from "pg"
import { withProgress } from "../../src/layers/local/ConsoleProgress.ts"
import { settle } from "../database.ts"
import { inTurns } from "../running/inTurns.ts"
import { steadily } from "../running/pace.ts"
import { quantiles } from "../running/spread.ts"
import type { Part, ReceivingTenant, Scene } from "./scene.ts"

const tenants = 500
const integrations = 50_000
const perSecond = 50
const seconds = 6
/** After many rows were added or removed, the machine writes for a while. */
const warmUpSeconds = 4

/** Half of them in one tenant, half spread over many; each has something pending that is due tomorrow. */
const addPending = async (client: pg.Client) => {
  const owner = `'tnt_pending' || case when n % 2 = 0 then 0 else n % ${tenants} end`
  const rows = `from generate_series(1, ${integrations}) n`
  const stamps = "now(), now(), 1"
  await client.query("begin")
  await client.query(
    `insert into tenants (id, name, created_at, updated_at, sequence)
     select 'tnt_pending' || n, 'Pending', ${stamps} from generate_series(0, ${tenants - 1}) n`
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

const removePending = async (client: pg.Client) => {
  for (const table of ["deliveries", "integrations", "events"])
    await client.query(`delete from ${table} where tenant_id like 'tnt_pending%'`)
  await client.query("delete from tenants where id like 'tnt_pending%'")
}

/** From commits to the receiver, in milliseconds; nothing may be left out. */
const latency = async ({ receivers }: Scene, tenant: ReceivingTenant, seconds: number) => {
  const { count } = await steadily(perSecond, seconds, tenant.addClient)
  const arrivals = await receivers.takeAll(count)
  if (arrivals.length < count) return Number.POSITIVE_INFINITY
  return quantiles(arrivals.map(({ at, happened }) => at - happened))(0.95)
}

export const pending: Part = {
  name: "pending",
  measure: (scene) =>
    Effect.gen(function* () {
      const { client, rounds } = scene
      const tenant = yield* scene.newTenant
      const warmingUp = Effect.promise(() => latency(scene, tenant, warmUpSeconds))
      const measuring = Effect.promise(() => latency(scene, tenant, seconds))
      yield* withProgress("Warming up", warmingUp, (p95) => `Warmed up, p95 ${p95.toFixed(0)} ms`)
      let isThere = false
      const turnTo = (wanted: boolean) =>
        Effect.gen(function* () {
          if (wanted === isThere) return
          isThere = wanted
          yield* Effect.promise(() => (wanted ? addPending(client) : removePending(client)))
          yield* settle(client)
          yield* warmingUp
        })
      const told = `${integrations.toLocaleString("en")} integrations with something pending`
      const found = yield* inTurns([true, false], rounds, (wanted, round) => {
        const label = `${round} of ${rounds}, ${wanted ? "with" : "without"} ${told}`
        return Effect.zipRight(
          turnTo(wanted),
          withProgress(
            label,
            Effect.map(measuring, (p95) => ({ wanted, p95 })),
            ({ p95 }) => `${label}: p95 ${p95.toFixed(0)} ms`
          )
        )
      })
      const of = (wanted: boolean) => found.flatMap((one) => (one.wanted === wanted ? [one.p95] : []))
      return [
        {
          what: `commit to receiver, with ${told} and without`,
          unit: "ms p95",
          ones: of(true),
          others: of(false),
          bound: { max: 1.25 }
        }
      ]
    })
}
