import type * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import {
  DeliveryId,
  type Redelivered,
  type Redelivery,
  requireRoomForRedelivery
} from "../../domain/delivery/Delivery.ts"
import { NotFound } from "../../domain/Errors.ts"
import { prefixOf } from "../../domain/Ids.ts"
import { atomically } from "../postgres/connection/Transaction.ts"
import { idBound, makeId } from "../postgres/Ids.ts"
import { arrangeLanes, enterLanes, holdLanes, type Lane } from "./Lanes.ts"
import { putBack } from "./Redelivering.ts"

/** What one transaction does at most while nobody can record outcomes of its integration. */
export interface RedeliveryLimits {
  readonly maxScanned: number
  readonly maxPutBack: number
}

export const redeliveryLimits: RedeliveryLimits = { maxScanned: 5000, maxPutBack: 250 }

const retrySeconds = 30

/** One request. */
export interface Open {
  readonly tenant: string
  readonly id: string
  readonly integration: string
}

interface Page {
  /** Undefined where nothing is wanted. */
  readonly resource: string | null
  readonly id: string | null
  readonly scanned: number
  readonly last: string | null
}

/** How far the clock that made a delivery's id may be off from the one that says when it was created. */
const clockSkewMillis = 60 * 60 * 1000

/** Requests to send many deliveries again, which are done step by step, by the api at first and by workers in the end. */
export const makeRedeliveries = (
  sql: SqlClient.SqlClient,
  { maxPutBack, maxScanned }: RedeliveryLimits = redeliveryLimits
) => {
  const enter = enterLanes(sql)
  const hold = holdLanes(sql)
  const arrange = arrangeLanes(sql)

  const at = ({ id, tenant }: Open) => sql`r.tenant_id = ${tenant} and r.id = ${id}`

  /** What was finished when the request came, and has not been put back by another since. */
  const isWanted = sql.literal(`
    d.created_at between r.since and r.until and d.updated_at <= r.created_at
    and d.status in ('DELIVERED', 'EXHAUSTED') and d.status = coalesce(r.status, d.status)`)

  /** The next deliveries that are put back, and how far that gets. */
  const page = (open: Open) => sql<Page>`
    with scanned as materialized (
      select d.id, d.resource_id, ${isWanted} as wanted from redeliveries r cross join lateral (
        select * from deliveries d
        where d.tenant_id = r.tenant_id and d.integration_id = r.integration_id and d.id > r.after_id and d.id <= r.last_id
        order by d.id limit ${maxScanned}
      ) d where ${at(open)}
    )
    select wanted.id, wanted.resource_id as resource, counted.count as scanned, counted.last
    from (select count(*) as count, max(id) as last from scanned) counted
    left join (select * from scanned where wanted order by id limit ${maxPutBack}) wanted on true order by wanted.id`

  /** Those of lanes that are held: one that has finished since they were looked for may be in another. */
  const putBackUpTo = (open: Open, last: string, lanes: ReadonlyArray<Lane>) => sql<{ count: number }>`
    with back as (
      update deliveries d set ${sql.literal(putBack)} from redeliveries r
      where ${at(open)} and d.tenant_id = r.tenant_id and d.integration_id = r.integration_id
        and d.id > r.after_id and d.id <= ${last} and ${isWanted}
        and d.resource_id in (
          select json_array_elements_text(${JSON.stringify(lanes.map(({ resource }) => resource))}::json))
      returning 1
    ) select count(*) from back`

  const moveOn = (open: Open, last: string, count: number) => sql<{ total: number }>`
    update redeliveries r set after_id = ${last}, count = count + ${count}, due_at = now()
    where ${at(open)} returning count as total`

  const finish = (open: Open, count: number) => sql<{ total: number }>`
    delete from redeliveries r where ${at(open)} returning count + ${count}::bigint as total`

  /** One step of a request whose row is locked. */
  const step = Effect.fnUntraced(function* (open: Open) {
    const { integration, tenant } = open
    yield* enter([open])
    const rows = yield* page(open)
    const wanted = rows.flatMap(({ id, resource }) => (id === null || resource === null ? [] : [{ id, resource }]))
    const isFull = wanted.length === maxPutBack
    const last = (isFull ? wanted.at(-1)?.id : rows[0]?.last) ?? ""
    const isComplete = !isFull && (rows[0]?.scanned ?? 0) < maxScanned
    let count = 0
    if (wanted.length > 0) {
      const lanes = [...new Set(wanted.map(({ resource }) => resource))].map((resource) => ({
        tenant,
        integration,
        resource
      }))
      const ids = JSON.stringify(wanted.map(({ id }) => id))
      yield* hold(lanes, sql`select ${tenant}, json_array_elements_text(${ids}::json)`)
      const [back] = yield* putBackUpTo(open, last, lanes)
      count = back?.count ?? 0
      yield* arrange(lanes)
    }
    const [row] = yield* isComplete ? finish(open, count) : moveOn(open, last, count)
    return { redelivered: count, isComplete, total: row?.total ?? count }
  })

  const lockIntegration = (tenant: string, integration: string) =>
    Effect.filterOrFail(
      sql<object>`select 1 from integrations where tenant_id = ${tenant} and id = ${integration} for key share`,
      (rows) => rows.length === 1,
      () => new NotFound()
    )

  const insert = ({ id, integration, tenant }: Open, { since, status, until }: Redelivery) => sql`
    insert into redeliveries (tenant_id, id, integration_id, since, until, status, after_id, last_id, count, created_at,
      due_at)
    select ${tenant}, ${id}, ${integration}, ${since}::timestamptz, least(${until ?? "infinity"}::timestamptz, now()),
      ${status ?? null}, ${idBound(prefixOf(DeliveryId), Date.parse(since) - clockSkewMillis)},
      coalesce((
        select d.id from deliveries d where d.tenant_id = ${tenant} and d.integration_id = ${integration}
        order by d.id desc limit 1), ''),
      0, now(), now()`

  const countOpen = (tenant: string, integration: string) =>
    Effect.map(
      sql<object>`select 1 from redeliveries where tenant_id = ${tenant} and integration_id = ${integration}`,
      (rows) => rows.length
    )

  /**
   * Whether it is still there and no other worker is at it. It locks the integration as well, or else
   * a deletion of that could wait for the request while this waits for a delivery.
   */
  const lock = (open: Open) => sql<object>`
    select 1 from redeliveries r join integrations i on i.tenant_id = r.tenant_id and i.id = r.integration_id
    where ${at(open)} for key share of i skip locked for update of r skip locked`

  return {
    /** Takes a request and its first step: the common small one is complete with it. */
    begin: (tenant: string, integration: string, which: Redelivery) =>
      Effect.gen(function* () {
        yield* lockIntegration(tenant, integration)
        yield* enter([{ tenant, integration }])
        yield* Effect.flatMap(countOpen(tenant, integration), requireRoomForRedelivery)
        const open = { tenant, integration, id: makeId("rdl") }
        yield* insert(open, which)
        const { isComplete, redelivered } = yield* step(open)
        return { redelivered, isComplete } satisfies Redelivered
      }).pipe(atomically(sql)),

    /** The next request that is due, of the tenants behind this one. */
    next: (afterTenant: string) =>
      Effect.orDie(sql<Open>`
        select r.tenant_id as tenant, r.id, r.integration_id as integration
        from redeliveries r join tenants t on t.id = r.tenant_id and t.deleted_at is null
        where r.tenant_id > ${afterTenant} and r.due_at <= now()
        order by r.tenant_id, r.due_at limit 1`).pipe(Effect.map(([open]) => open)),

    /** Takes a request one step further; undefined if another does, or it is done. */
    advance: (open: Open) =>
      lock(open).pipe(
        Effect.flatMap((rows) => (rows.length === 0 ? Effect.succeed(undefined) : step(open))),
        atomically(sql)
      ),

    /** After a step that failed. */
    postpone: (open: Open) =>
      Effect.orDie(sql`
        update redeliveries r set due_at = now() + make_interval(secs => ${retrySeconds})
        where ${at(open)}`)
  }
}
