import { Effect } from "effect"
import type pg from "pg"
import { withProgress } from "../../tools/local/ConsoleProgress.ts"
import { vacuumAndCheckpoint } from "../database.ts"
import type { QueueFixture, QueuePart, ReceivingTenant } from "./queuePart.ts"

const historyCount = 200_000
const eventCount = 50_000
const warmUpEventCount = 5000

/** Keeps autovacuum from refreshing the statistics during the measurement. */
const setAutovacuum = (client: pg.Client, isEnabled: boolean) =>
  Effect.promise(async () => {
    for (const table of ["events", "outbox", "event_feed", "deliveries", "delivery_attempts", "delivery_queues"])
      await client.query(`alter table ${table} set (autovacuum_enabled = ${isEnabled})`)
  })

const insertEvents = (client: pg.Client, tenant: string, prefix: string, count: number) =>
  client.query(
    `insert into events (tenant_id, id, type, resource_id, sequence, occurred_at, data)
     select $1, 'evt_' || $2 || n, 'client.created', 'clnt_' || $2 || n, 1, now(),
       json_build_object('id', 'clnt_' || $2 || n, 'name', 'Client') from generate_series(1, $3::int) n`,
    [tenant, prefix, count]
  )

/** Inserts events that were delivered before. */
const insertHistory = async (client: pg.Client, { id, integration }: ReceivingTenant) => {
  const rows = `from generate_series(1, ${historyCount}) n`
  await client.query("begin")
  await insertEvents(client, id, "old", historyCount)
  await client.query("delete from outbox")
  await client.query(
    `insert into event_feed (tenant_id, position, event_id, resource_id, sequence, fanned_out)
     select $1, -n, 'evt_old' || n, 'clnt_old' || n, 1, true ${rows}`,
    [id]
  )
  await client.query(
    `insert into deliveries (tenant_id, id, integration_id, event_id, event_type, resource_id, sequence, status, attempts,
       delivered_at, created_at, updated_at)
     select $1, 'dlv_old' || n, $2, 'evt_old' || n, 'client.created', 'clnt_old' || n, 1, 'DELIVERED', 1, now(), now(),
       now() ${rows}`,
    [id, integration]
  )
  await client.query(
    `insert into delivery_attempts (tenant_id, delivery_id, number, attempted_at, outcome, latency_ms)
     select $1, 'dlv_old' || n, 1, now(), 'DELIVERED', 1 ${rows}`,
    [id]
  )
  await client.query("commit")
}

/** Returns the deliveries per second of a burst of events. */
const deliverBurst = async (
  { client, receivers }: QueueFixture,
  { id }: ReceivingTenant,
  prefix: string,
  count: number
) => {
  const startedAt = performance.timeOrigin + performance.now()
  await insertEvents(client, id, prefix, count)
  const arrivals = await receivers.waitForArrivals(count, 60_000)
  const lastAt = arrivals.reduce((latest, { arrivedAt }) => Math.max(latest, arrivedAt), startedAt)
  return arrivals.length < count ? 0 : count / ((lastAt - startedAt) / 1000)
}

export const backlog: QueuePart = {
  name: "backlog",
  measure: (fixture) =>
    Effect.gen(function* () {
      const { client } = fixture
      const tenant = yield* fixture.createTenant
      const measureBurst = (prefix: string, progress: string, count = eventCount) =>
        withProgress(
          progress,
          Effect.promise(() => deliverBurst(fixture, tenant, prefix, count)),
          (rate) => `${progress}: ${rate.toFixed(0)}/s`
        )
      const label = `${eventCount.toLocaleString("en")} events`
      yield* measureBurst("warm", "Warming up", warmUpEventCount)
      const withoutHistory = yield* measureBurst("alone", `${label}, nothing before them`)
      const addHistory = Effect.zipRight(
        Effect.promise(() => insertHistory(client, tenant)),
        vacuumAndCheckpoint(client)
      )
      yield* withProgress(
        `Adding ${historyCount} events of history`,
        addHistory,
        () => `${historyCount} events of history, analyzed`
      )
      yield* setAutovacuum(client, false)
      const withHistory = yield* measureBurst("behind", `${label} after the history`)
      yield* setAutovacuum(client, true)
      return [
        {
          description: `${label} after ${historyCount.toLocaleString("en")} analyzed ones, and without these`,
          unit: "deliveries/s",
          values: [withHistory],
          baselines: [withoutHistory],
          bound: { min: 0.8 }
        }
      ]
    })
}
