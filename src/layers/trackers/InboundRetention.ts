import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { Settings } from "../infra/config/Settings.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"

/**
 * Deduplication needs a webhook for as long as its tracker retries, which is hours at most. Overrides a shorter
 * setting.
 */
const minDays = 3

/** Retention of processed inbound webhooks. Each method changes up to `max` rows and returns their number. */
export class InboundRetention extends Effect.Service<InboundRetention>()("layers/InboundRetention", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { EVENT_RETENTION_DAYS, PAYLOAD_RETENTION_DAYS } = yield* Settings

    /** Locks webhooks that were processed more than `days` ago. Skips those that a concurrent replay has locked. */
    const selectProcessed = (days: number, condition: string, max: number) => sql`
      select tenant_id, id from inbound_webhooks
      where status <> 'RECEIVED' and ${sql.literal(condition)} and processed_at < now() - make_interval(days => ${days})
      order by processed_at limit ${max} for update skip locked`

    return {
      /** Deletes the bodies, and the error messages, which can quote a body. */
      deleteBodies: (max: number) =>
        Effect.orDie(sql<object>`
          with old as materialized (${selectProcessed(PAYLOAD_RETENTION_DAYS, "body is not null", max)})
          update inbound_webhooks w set body = null, error = null from old
          where w.tenant_id = old.tenant_id and w.id = old.id returning 1`).pipe(Effect.map((rows) => rows.length)),

      deleteExpired: (max: number) =>
        Effect.orDie(sql<object>`
          with old as materialized (${selectProcessed(Math.max(EVENT_RETENTION_DAYS, minDays), "true", max)})
          delete from inbound_webhooks w using old
          where w.tenant_id = old.tenant_id and w.id = old.id returning 1`).pipe(Effect.map((rows) => rows.length))
    }
  }).pipe(withSpans("InboundRetention"))
}) {}
