import type * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect } from "effect"
import type { Redelivery } from "../../../domain/delivery/Delivery.ts"
import { arrangeLanes, enterLanes, holdLanes, type Lane } from "./Lanes.ts"

/** How finished deliveries are put back into their lanes, to be used inside a transaction. */
export const makeRedelivering = (sql: SqlClient.SqlClient) => {
  const enter = enterLanes(sql)
  const hold = holdLanes(sql)
  const arrange = arrangeLanes(sql)

  /** Begins a new round of attempts, as if there had been none before. Where in its lane it is, the lane decides. */
  const putBack = (finished: Fragment) => sql<object>`
    update deliveries set status = 'WAITING', spent = attempts, next_attempt_at = now(), updated_at = now(),
      response_status = null, error = null, delivered_at = null
    where ${finished} and status in ('DELIVERED', 'EXHAUSTED')`

  const makeDue = (tenant: string, id: string) => sql`
    update deliveries set next_attempt_at = now(), updated_at = now()
    where tenant_id = ${tenant} and id = ${id} and status in ('WAITING', 'PENDING') and lease is null`

  const laneOf = (tenant: string, integration: string, id: string) =>
    Effect.map(
      sql<{ resource: string }>`
        select resource_id as resource from deliveries where tenant_id = ${tenant} and id = ${id}`,
      ([row]): Lane => ({ tenant, integration, resource: row?.resource ?? "" })
    )

  const finishedOf = (tenant: string, integration: string, { since, status, until }: Redelivery) => sql`
    tenant_id = ${tenant} and integration_id = ${integration} and created_at >= ${since}::timestamptz
    and created_at <= ${until ?? "infinity"}::timestamptz
    and status in ${sql.in(status === undefined ? ["DELIVERED", "EXHAUSTED"] : [status])}`

  const lanesOf = (tenant: string, integration: string, finished: Fragment) =>
    Effect.map(
      sql<{ resource: string }>`select distinct resource_id as resource from deliveries where ${finished}`,
      (rows) => rows.map(({ resource }): Lane => ({ tenant, integration, resource }))
    )

  /** Those of lanes that are held: one that has finished since they were looked for may be in another. */
  const inLanes = (finished: Fragment, lanes: ReadonlyArray<Lane>) => sql`
    ${finished} and resource_id in (
      select json_array_elements_text(${JSON.stringify(lanes.map(({ resource }) => resource))}::json))`

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
        Effect.zipRight(putBack(sql`tenant_id = ${lane.tenant} and id = ${id}`)),
        Effect.zipRight(arrange([lane])),
        Effect.orDie
      ),

    all: (tenant: string, integration: string, which: Redelivery) =>
      Effect.gen(function* () {
        yield* enter([{ tenant, integration }])
        const finished = finishedOf(tenant, integration, which)
        const lanes = yield* lanesOf(tenant, integration, finished)
        const wanted = inLanes(finished, lanes)
        yield* hold(lanes, sql`select tenant_id, id from deliveries where ${wanted}`)
        const [back] = yield* sql<{ count: number }>`
          with back as (${putBack(wanted)} returning 1) select count(*) from back`
        yield* arrange(lanes)
        return back?.count ?? 0
      }).pipe(Effect.orDie)
  }
}
