import type * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import {
  isFinishedSql,
  isUnfinishedSql,
  lockOrderingExclusive,
  lockPendingDeliveries,
  type OrderingKey,
  reorderDeliveries
} from "../DeliveryOrder.ts"

/** SET clause that starts a new round of attempts. Reordering then decides whether the delivery is sent next. */
export const redeliverySetClause = `status = 'WAITING', spent = attempts, next_attempt_at = now(), updated_at = now(),
  response_status = null, error = null, delivered_at = null`

/** Redelivers a single delivery. The caller provides the transaction. */
export const makeSingleRedelivery = (sql: SqlClient.SqlClient) => {
  const lockOrdering = lockOrderingExclusive(sql)
  const lockPending = lockPendingDeliveries(sql)
  const reorder = reorderDeliveries(sql)

  const requeueFinished = (tenant: string, id: string) => sql`
    update deliveries set ${sql.literal(redeliverySetClause)}
    where tenant_id = ${tenant} and id = ${id} and ${sql.literal(isFinishedSql)}`

  const makeUnfinishedDue = (tenant: string, id: string) => sql`
    update deliveries set next_attempt_at = now(), updated_at = now()
    where tenant_id = ${tenant} and id = ${id} and ${sql.literal(isUnfinishedSql)} and lease is null`

  const findOrderingKey = (tenant: string, integration: string, id: string) =>
    Effect.map(
      sql<{ resource: string; recipient: string | null }>`
        select resource_id as resource, recipient from deliveries where tenant_id = ${tenant} and id = ${id}`,
      ([row]): OrderingKey => ({ tenant, integration, resource: row?.resource ?? "", recipient: row?.recipient })
    )

  return {
    /** Locks a delivery and its ordering key. Returns the key. */
    lock: (tenant: string, integration: string, id: string) =>
      Effect.gen(function* () {
        yield* lockOrdering([{ tenant, integration }])
        const orderingKey = yield* findOrderingKey(tenant, integration, id)
        yield* lockPending([orderingKey], sql`select ${tenant}, ${id}`)
        return orderingKey
      }).pipe(Effect.orDie),

    /** Makes a locked delivery due again. */
    redeliver: (orderingKey: OrderingKey, id: string) =>
      makeUnfinishedDue(orderingKey.tenant, id).pipe(
        Effect.zipRight(requeueFinished(orderingKey.tenant, id)),
        Effect.zipRight(reorder([orderingKey])),
        Effect.orDie
      )
  }
}
