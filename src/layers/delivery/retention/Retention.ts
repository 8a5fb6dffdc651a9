import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { Settings } from "../../infra/config/Settings.ts"
import { deleteUpTo, runInBatches } from "../../infra/postgres/Batches.ts"
import { withSpans } from "../../infra/telemetry/UseCaseSpans.ts"
import { makeEventRetention } from "./EventRetention.ts"

/** Deletes events, attempt payloads and secrets after their retention period. */
export class Retention extends Effect.Service<Retention>()("layers/Retention", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { EVENT_RETENTION_DAYS, PAYLOAD_RETENTION_DAYS } = yield* Settings

    return {
      /** Deletes old events with their feed rows, deliveries and attempts. */
      deleteEvents: runInBatches(makeEventRetention(sql, EVENT_RETENTION_DAYS).deleteNextBatch),

      /** Clears the response bodies and errors of old attempts. */
      clearAttemptPayloads: (max: number) =>
        Effect.orDie(sql<object>`
          with old as materialized (
            select tenant_id, delivery_id, number from delivery_attempts
            where attempted_at < now() - make_interval(days => ${PAYLOAD_RETENTION_DAYS})
              and (response_body is not null or error is not null)
            order by attempted_at limit ${max} for update skip locked
          )
          update delivery_attempts a set response_body = null, error = null from old
          where a.tenant_id = old.tenant_id and a.delivery_id = old.delivery_id and a.number = old.number
          returning 1`).pipe(Effect.map((rows) => rows.length)),

      /** Deletes expired signing secrets. */
      deleteExpiredSecrets: (max: number) =>
        Effect.orDie(deleteUpTo(sql, max, "integration_secrets", sql`expires_at <= now()`))
    }
  }).pipe(withSpans("Retention"))
}) {}
