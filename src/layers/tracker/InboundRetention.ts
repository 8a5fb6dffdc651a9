import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { Settings } from "../config/Settings.ts"

/** A tracker sends again for hours at the most. For so long at least a webhook is known, whatever the settings say. */
const leastDays = 3

/** What is kept of webhooks for a time after they were worked. Every step tells how many it took. */
export class InboundRetention extends Effect.Service<InboundRetention>()("layers/InboundRetention", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { EVENT_RETENTION_DAYS, PAYLOAD_RETENTION_DAYS } = yield* Settings

    /** Those that were worked so long ago, and that nobody has worked again at this very moment. */
    const worked = (days: number, which: string, most: number) => sql`
      select tenant_id, id from inbound_webhooks
      where status <> 'RECEIVED' and ${sql.literal(which)} and processed_at < now() - make_interval(days => ${days})
      order by processed_at limit ${most} for update skip locked`

    return {
      /** Takes the bodies away, and with them what was quoted of them. */
      empty: (most: number) =>
        Effect.orDie(sql<object>`
          with old as materialized (${worked(PAYLOAD_RETENTION_DAYS, "body is not null", most)})
          update inbound_webhooks w set body = null, error = null from old
          where w.tenant_id = old.tenant_id and w.id = old.id returning 1`).pipe(Effect.map((rows) => rows.length)),

      forget: (most: number) =>
        Effect.orDie(sql<object>`
          with old as materialized (${worked(Math.max(EVENT_RETENTION_DAYS, leastDays), "true", most)})
          delete from inbound_webhooks w using old
          where w.tenant_id = old.tenant_id and w.id = old.id returning 1`).pipe(Effect.map((rows) => rows.length))
    }
  })
}) {}
