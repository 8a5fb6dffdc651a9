import type * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect } from "effect"

/** Maximum of rows that one transaction deletes. It stops at the first limit it reaches. */
export interface RemovalLimits {
  readonly maxDeliveries: number
  readonly maxAttempts: number
}

export const removalLimits: RemovalLimits = { maxDeliveries: 200, maxAttempts: 800 }

/**
 * Deletes attempts of locked deliveries, given as rows of tenant and id. Returns whether none is left. A delivery can
 * have any number of attempts, so the caller deletes it only afterwards: the cascade then covers its file alone.
 */
export const deleteAttempts =
  (sql: SqlClient.SqlClient, { maxAttempts }: Pick<RemovalLimits, "maxAttempts">) =>
  (deliveries: Fragment) =>
    Effect.map(
      sql<{ count: number }>`
        with doomed as materialized (
          select attempt.row from (${deliveries}) delivery (tenant, id)
          cross join lateral (
            select ctid as row from delivery_attempts where tenant_id = delivery.tenant and delivery_id = delivery.id
            limit ${maxAttempts}
          ) attempt
          limit ${maxAttempts}
        ), gone as (
          delete from delivery_attempts where ctid = any (array(select row from doomed)) returning 1
        )
        select count(*) from gone`,
      ([deleted]) => (deleted?.count ?? 0) < maxAttempts
    )
