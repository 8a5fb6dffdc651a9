import type * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect } from "effect"

/** What one transaction removes at most, whichever limit comes first. */
export interface RemovalLimits {
  readonly maxDeliveries: number
  readonly maxAttempts: number
}

export const removalLimits: RemovalLimits = { maxDeliveries: 200, maxAttempts: 800 }

/**
 * Deletes attempts of deliveries, which are locked and given as rows of tenant and id; tells whether these were all.
 * A delivery may have any number of attempts: it goes when they are gone, and takes nothing but its file along.
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
      ([gone]) => (gone?.count ?? 0) < maxAttempts
    )
