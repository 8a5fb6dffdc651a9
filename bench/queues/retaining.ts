import { SqlClient } from "@effect/sql/SqlClient"
import { Duration, Effect, Layer } from "effect"
import type pg from "pg"
import { readSettings, Settings } from "../../src/layers/config/Settings.ts"
import { type EventCursor, makeEventRetention } from "../../src/layers/delivery/EventRetention.ts"
import { withProgress } from "../../src/layers/local/ConsoleProgress.ts"
import { SqlLive } from "../../src/layers/postgres/connection/PostgresClient.ts"
import { connected, settle } from "../database.ts"
import { createDatabase } from "../stage.ts"
import type { Part, Scene } from "./scene.ts"

const size = { held: 300_000, events: 5_000_000 }

/** Batches at the beginning and at the end whose times are compared. */
const compared = 200
const chunk = 100_000
const tenant = "tnt_retaining"

/** Old events, the oldest of them held because they were never fanned out. */
const plant = async (client: pg.Client, { events, held }: typeof size) => {
  await client.query(
    "insert into tenants (id, name, created_at, updated_at, sequence) values ($1, 'Retaining', now(), now(), 1)",
    [tenant]
  )
  await client.query("alter table events disable trigger remember_events")
  for (let first = 1; first <= held + events; first += chunk) {
    const last = Math.min(first + chunk - 1, held + events)
    await client.query(
      `with added as (
         insert into events (tenant_id, id, type, resource_id, sequence, occurred_at, data)
         select $1, 'evt_' || n, 'client.updated', 'clnt_' || n % 1000, n,
           now() - interval '90 days' + n * interval '1 millisecond', '{"id":"clnt_1","name":"Client"}'
         from generate_series($2::int, $3::int) n
         returning tenant_id, sequence, id, resource_id
       )
       insert into event_feed (tenant_id, position, event_id, resource_id, sequence, fanned_out)
       select tenant_id, sequence, id, resource_id, sequence, sequence > $4 from added`,
      [tenant, first, last, held]
    )
  }
  await client.query("alter table events enable trigger remember_events")
}

/** The milliseconds of every batch of one walk over all of them. */
const walk = Effect.gen(function* () {
  const { deleteNextBatch: forget } = makeEventRetention(yield* SqlClient, 30)
  const times: Array<number> = []
  let place: EventCursor | undefined
  do {
    const [took, end] = yield* Effect.timed(forget(place))
    times.push(Duration.toMillis(took))
    place = end
  } while (place !== undefined)
  return times
})

/** Measures whether a batch of retention takes the same time at the end of a long walk as at its beginning. */
const measure = ({ setting: { stage } }: Scene) =>
  Effect.gen(function* () {
    const admin = yield* connected(stage.databaseUrl)
    const url = yield* createDatabase(admin, stage, "retaining")
    const client = yield* connected(url)
    yield* withProgress(
      `Adding ${size.events} old events behind ${size.held} that are held`,
      Effect.promise(() => plant(client, size)).pipe(Effect.zipRight(settle(client))),
      () => "Events added"
    )
    const live = SqlLive.pipe(Layer.provide(Layer.effect(Settings, readSettings({ DATABASE_URL: url }))))
    const times = yield* withProgress("Forgetting them", Effect.provide(walk, live), (all) => `${all.length} batches`)
    const forgetting = times.slice(Math.floor((size.held / (size.held + size.events)) * times.length))
    return [
      {
        what: `a batch at the end of ${size.events.toLocaleString("en")} old events and at their beginning`,
        unit: "ms",
        ones: forgetting.slice(-compared),
        others: forgetting.slice(0, compared),
        bound: { max: 1.25 }
      }
    ]
  }).pipe(Effect.orDie, Effect.scoped)

export const retaining: Part = { name: "retaining", measure }
