import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { Settings } from "../config/Settings.ts"
import { inBatches } from "../postgres/Batches.ts"
import { makeEventRetention } from "./EventRetention.ts"

/** What is kept of events, attempts and secrets for a time only. */
export class Retention extends Effect.Service<Retention>()("layers/Retention", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { EVENT_RETENTION_DAYS, PAYLOAD_RETENTION_DAYS } = yield* Settings

    return {
      /** Forgets old events; their places in the feed, their deliveries and attempts go along. */
      forgetEvents: inBatches(makeEventRetention(sql, EVENT_RETENTION_DAYS).step),

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
