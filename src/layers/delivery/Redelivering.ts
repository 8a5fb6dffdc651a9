import type * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { arrangeLanes, enterLanes, holdLanes, type Lane } from "./Lanes.ts"

/** SET clause that starts a new round of attempts. Reordering then decides whether the delivery is sent next. */
export const putBack = `status = 'WAITING', spent = attempts, next_attempt_at = now(), updated_at = now(),
  response_status = null, error = null, delivered_at = null`

/** Redelivers a single delivery. The caller provides the transaction. */
export const makeRedelivering = (sql: SqlClient.SqlClient) => {
  const lockOrdering = enterLanes(sql)
  const lockPending = holdLanes(sql)
  const reorder = arrangeLanes(sql)

  const requeueFinished = (tenant: string, id: string) => sql`
    update deliveries set ${sql.literal(putBack)}
    where tenant_id = ${tenant} and id = ${id} and status in ('DELIVERED', 'EXHAUSTED')`

  const makeUnfinishedDue = (tenant: string, id: string) => sql`
    update deliveries set next_attempt_at = now(), updated_at = now()
    where tenant_id = ${tenant} and id = ${id} and status in ('WAITING', 'PENDING') and lease is null`

  const findOrderingKey = (tenant: string, integration: string, id: string) =>
    Effect.map(
      sql<{ resource: string }>`
        select resource_id as resource from deliveries where tenant_id = ${tenant} and id = ${id}`,
      ([row]): Lane => ({ tenant, integration, resource: row?.resource ?? "" })
    )

  return {
    /** Locks a delivery and its ordering key. Returns the key. */
    hold: (tenant: string, integration: string, id: string) =>
      Effect.gen(function* () {
        yield* lockOrdering([{ tenant, integration }])
        const orderingKey = yield* findOrderingKey(tenant, integration, id)
        yield* lockPending([orderingKey], sql`select ${tenant}, ${id}`)
        return orderingKey
      }).pipe(Effect.orDie),

    /** Makes a locked delivery due again. */
    one: (orderingKey: Lane, id: string) =>
      makeUnfinishedDue(orderingKey.tenant, id).pipe(
        Effect.zipRight(requeueFinished(orderingKey.tenant, id)),
        Effect.zipRight(reorder([orderingKey])),
        Effect.orDie
      )
  }
}
