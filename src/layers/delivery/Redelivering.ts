import type * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { arrangeLanes, enterLanes, holdLanes, type Lane } from "./Lanes.ts"

/** Begins a new round of attempts, as if there had been none before. Where in its lane it is, the lane decides. */
export const putBack = `status = 'WAITING', spent = attempts, next_attempt_at = now(), updated_at = now(),
  response_status = null, error = null, delivered_at = null`

/** How one finished delivery is put back into its lane, to be used inside a transaction. */
export const makeRedelivering = (sql: SqlClient.SqlClient) => {
  const enter = enterLanes(sql)
  const hold = holdLanes(sql)
  const arrange = arrangeLanes(sql)

  const putBackOne = (tenant: string, id: string) => sql`
    update deliveries set ${sql.literal(putBack)}
    where tenant_id = ${tenant} and id = ${id} and status in ('DELIVERED', 'EXHAUSTED')`

  const makeDue = (tenant: string, id: string) => sql`
    update deliveries set next_attempt_at = now(), updated_at = now()
    where tenant_id = ${tenant} and id = ${id} and status in ('WAITING', 'PENDING') and lease is null`

  const laneOf = (tenant: string, integration: string, id: string) =>
    Effect.map(
      sql<{ resource: string }>`
        select resource_id as resource from deliveries where tenant_id = ${tenant} and id = ${id}`,
      ([row]): Lane => ({ tenant, integration, resource: row?.resource ?? "" })
    )

  return {
    /** Holds a delivery and its lane, and tells which that is. */
    hold: (tenant: string, integration: string, id: string) =>
      Effect.gen(function* () {
        yield* enter([{ tenant, integration }])
        const lane = yield* laneOf(tenant, integration, id)
        yield* hold([lane], sql`select ${tenant}, ${id}`)
        return lane
      }).pipe(Effect.orDie),

    /** Sends one that is held with its lane. */
    one: (lane: Lane, id: string) =>
      makeDue(lane.tenant, id).pipe(
        Effect.zipRight(putBackOne(lane.tenant, id)),
        Effect.zipRight(arrange([lane])),
        Effect.orDie
      )
  }
}
