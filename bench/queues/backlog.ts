import { Effect } from "effect"
import type pg from "pg"
import { withProgress } from "../../src/layers/local/ConsoleProgress.ts"
import { settle } from "../database.ts"
import type { Part, ReceivingTenant, Scene } from "./scene.ts"

const history = 200_000
const events = 50_000
const warmUpEvents = 5000

/** What comes after the statistics were taken must do with these. */
const autovacuum = (client: pg.Client, isEnabled: boolean) =>
  Effect.promise(async () => {
    for (const table of ["events", "outbox", "event_feed", "deliveries", "delivery_attempts", "delivery_queues"])
      await client.query(`alter table ${table} set (autovacuum_enabled = ${isEnabled})`)
  })

const addEvents = (client: pg.Client, tenant: string, prefix: string, count: number) =>
  client.query(
    `insert into events (tenant_id, id, type, resource_id, sequence, occurred_at, data)
     select $1, 'evt_' || $2 || n, 'client.created', 'clnt_' || $2 || n, 1, now(),
       json_build_object('id', 'clnt_' || $2 || n, 'name', 'Client') from generate_series(1, $3::int) n`,
    [tenant, prefix, count]
  )

/** Events that were delivered long ago. */
const addHistory = async (client: pg.Client, { id, integration }: ReceivingTenant) => {
  const rows = `from generate_series(1, ${history}) n`
  await client.query("begin")
  await addEvents(client, id, "old", history)
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

/** How many of a burst arrive in a second. */
const deliverBurst = async ({ client, receivers }: Scene, { id }: ReceivingTenant, prefix: string, events: number) => {
  const began = performance.timeOrigin + performance.now()
  await addEvents(client, id, prefix, events)
  const arrivals = await receivers.takeAll(events, 60_000)
  const last = arrivals.reduce((latest, { at }) => Math.max(latest, at), began)
  return arrivals.length < events ? 0 : events / ((last - began) / 1000)
}

export const backlog: Part = {
  name: "backlog",
  measure: (scene) =>
    Effect.gen(function* () {
      const { client } = scene
      const tenant = yield* scene.newTenant
      const burst = (prefix: string, label: string, count = events) =>
        withProgress(
          label,
          Effect.promise(() => deliverBurst(scene, tenant, prefix, count)),
          (rate) => `${label}: ${rate.toFixed(0)}/s`
        )
      const told = `${events.toLocaleString("en")} events`
      yield* burst("warm", "Warming up", warmUpEvents)
      const alone = yield* burst("alone", `${told}, nothing before them`)
      const planting = Effect.zipRight(
        Effect.promise(() => addHistory(client, tenant)),
        settle(client)
      )
      yield* withProgress(
        `Adding ${history} events of history`,
        planting,
        () => `${history} events of history, analyzed`
      )
      yield* autovacuum(client, false)
      const behind = yield* burst("behind", `${told} after the history`)
      yield* autovacuum(client, true)
      return [
        {
          what: `${told} after ${history.toLocaleString("en")} analyzed ones, and without these`,
          unit: "deliveries/s",
          ones: [behind],
          others: [alone],
          bound: { min: 0.8 }
        }
      ]
    })
}
