import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { Settings } from "../../config/Settings.ts"
import { atomically } from "../connection/Transaction.ts"

interface Event {
  readonly tenant: string
  readonly id: string
}

/** What is kept of events, attempts and secrets for a time only. Every step tells how many it took. */
export class Retention extends Effect.Service<Retention>()("layers/Retention", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { EVENT_RETENTION_DAYS, PAYLOAD_RETENTION_DAYS } = yield* Settings

    const isUnfinished = sql.literal(`exists (
      select 1 from deliveries d where d.tenant_id = e.tenant_id and d.event_id = e.id
        and d.status in ('WAITING', 'PENDING'))`)

    /** Old events that nobody has to be told of any more, and that no other copy is at. */
    const outlived = (most: number) => sql<Event>`
      select e.tenant_id as tenant, e.id from events e
      join event_feed f on f.tenant_id = e.tenant_id and f.event_id = e.id and f.fanned_out
      where e.occurred_at < now() - make_interval(days => ${EVENT_RETENTION_DAYS}) and not ${isUnfinished}
        and not exists (select 1 from outbox o where o.tenant_id = e.tenant_id and o.event_id = e.id)
      order by e.occurred_at limit ${most} for update of e skip locked`

    const rowsOf = (events: ReadonlyArray<Event>) => sql`
      select tenant, id from json_to_recordset(${JSON.stringify(events)}::json) as event (tenant text, id text)`

    /** Nobody may put a delivery back while its event goes: the lane would wait for it for ever. */
    const hold = (events: ReadonlyArray<Event>) => sql`
      with held as materialized (
        select 1 from deliveries where (tenant_id, event_id) in (${rowsOf(events)}) order by id for update
      )
      select count(*) from held`

    const forget = (events: ReadonlyArray<Event>) => sql<{ count: number }>`
      with gone as (
        delete from events e where (e.tenant_id, e.id) in (${rowsOf(events)}) and not ${isUnfinished} returning 1
      )
      select count(*) from gone`

    return {
      /** Deletes old events; their places in the feed, their deliveries and attempts go along. */
      forgetEvents: (most: number) =>
        Effect.gen(function* () {
          const events = yield* outlived(most)
          yield* hold(events)
          const [gone] = yield* forget(events)
          return gone?.count ?? 0
        }).pipe(atomically(sql)),

      /** Takes away what receivers answered to old attempts. */
      emptyAttempts: (most: number) =>
        Effect.orDie(sql<object>`
          with old as materialized (
            select tenant_id, delivery_id, number from delivery_attempts
            where attempted_at < now() - make_interval(days => ${PAYLOAD_RETENTION_DAYS})
              and (response_body is not null or error is not null)
            order by attempted_at limit ${most} for update skip locked
          )
          update delivery_attempts a set response_body = null, error = null from old
          where a.tenant_id = old.tenant_id and a.delivery_id = old.delivery_id and a.number = old.number
          returning 1`).pipe(Effect.map((rows) => rows.length)),

      /** Deletes secrets that sign nothing any more. */
      forgetSecrets: (most: number) =>
        Effect.orDie(sql<object>`
          delete from integration_secrets where ctid = any (array(
            select ctid from integration_secrets where expires_at <= now() limit ${most}
          )) returning 1`).pipe(Effect.map((rows) => rows.length))
    }
  })
}) {}
