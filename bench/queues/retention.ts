import { SqlClient } from "@effect/sql/SqlClient"
import { Duration, Effect, Layer } from "effect"
import type pg from "pg"
import { type EventCursor, makeEventRetention } from "../../src/layers/delivery/retention/EventRetention.ts"
import { readSettings, Settings } from "../../src/layers/infra/config/Settings.ts"
import { SqlLive } from "../../src/layers/infra/postgres/connection/PostgresClient.ts"
import { withProgress } from "../../tools/local/ConsoleProgress.ts"
import { connectDatabase, vacuumAndCheckpoint } from "../database.ts"
import { createDatabase } from "../infrastructure.ts"
import type { QueueFixture, QueuePart } from "./queuePart.ts"

const eventCounts = { unsent: 300_000, sent: 5_000_000 }

/** The first and last batches, whose times are compared. */
const comparedBatches = 200
const rowsPerInsert = 100_000
const tenantId = "tnt_retaining"

/** Inserts expired events. The oldest were never fanned out, so retention must keep them. */
const insertEvents = async (client: pg.Client, { sent, unsent }: typeof eventCounts) => {
  await client.query(
    "insert into tenants (id, name, created_at, updated_at, sequence) values ($1, 'Retaining', now(), now(), 1)",
    [tenantId]
  )
  await client.query("alter table events disable trigger remember_events")
  for (let first = 1; first <= unsent + sent; first += rowsPerInsert) {
    const last = Math.min(first + rowsPerInsert - 1, unsent + sent)
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
      [tenantId, first, last, unsent]
    )
  }
  await client.query("alter table events enable trigger remember_events")
}

/** Returns the milliseconds of every batch of one pass. */
const timeBatches = Effect.gen(function* () {
  const { deleteNextBatch } = makeEventRetention(yield* SqlClient, 30)
  const times: Array<number> = []
  let cursor: EventCursor | undefined
  do {
    const [duration, nextCursor] = yield* Effect.timed(deleteNextBatch(cursor))
    times.push(Duration.toMillis(duration))
    cursor = nextCursor
  } while (cursor !== undefined)
  return times
})

/** Measures whether a batch takes as long at the end of a long pass as at its start. */
const measureRetention = ({ environment: { infrastructure } }: QueueFixture) =>
  Effect.gen(function* () {
    const admin = yield* connectDatabase(infrastructure.databaseUrl)
    const url = yield* createDatabase(admin, infrastructure, "retaining")
    const client = yield* connectDatabase(url)
    yield* withProgress(
      `Adding ${eventCounts.sent} old events after ${eventCounts.unsent} that are kept`,
      Effect.promise(() => insertEvents(client, eventCounts)).pipe(Effect.zipRight(vacuumAndCheckpoint(client))),
      () => "Events added"
    )
    const live = SqlLive.pipe(Layer.provide(Layer.effect(Settings, readSettings({ DATABASE_URL: url }))))
    const times = yield* withProgress(
      "Deleting them",
      Effect.provide(timeBatches, live),
      (all) => `${all.length} batches`
    )
    const deletions = times.slice(
      Math.floor((eventCounts.unsent / (eventCounts.unsent + eventCounts.sent)) * times.length)
    )
    return [
      {
        description: `a batch at the end of ${eventCounts.sent.toLocaleString("en")} old events and at their beginning`,
        unit: "ms",
        values: deletions.slice(-comparedBatches),
        baselines: deletions.slice(0, comparedBatches),
        bound: { max: 1.25 }
      }
    ]
  }).pipe(Effect.orDie, Effect.scoped)

export const retention: QueuePart = { name: "retaining", measure: measureRetention }
