import type * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect } from "effect"

/** The deliveries about one resource to one integration, which are sent one after the other. */
export interface Lane {
  readonly tenant: string
  readonly integration: string
  readonly resource: string
}

const unfinished = "status in ('WAITING', 'PENDING')"

/** Lanes as rows of a statement. */
const rowsOf = (sql: SqlClient.SqlClient, lanes: ReadonlyArray<Lane>) => sql`
  select distinct * from json_to_recordset(${JSON.stringify(lanes)}::json)
    as lane (tenant text, integration text, resource text)`

/** A lane as one value, which is how it is indexed: by its parts, other indexes would seem to do as well. */
export const laneOf = (tenant: string, integration: string, resource: string) =>
  `(${tenant} || '/' || ${integration} || '/' || ${resource})`

const ofLanes = `${laneOf("d.tenant_id", "d.integration_id", "d.resource_id")} = ${laneOf("lane.tenant", "lane.integration", "lane.resource")}`

type Place = Pick<Lane, "tenant" | "integration">

const lockName = ({ integration, tenant }: Place) => `deliveries ${tenant} ${integration}`

/** Locks the lanes of integrations until the transaction ends, always in the same order. */
const locking = (lock: string) => (sql: SqlClient.SqlClient) => (places: ReadonlyArray<Place>) => {
  const names = places.map(lockName)
  return sql`
    select ${sql.literal(lock)}(key) from (
      select distinct hashtextextended(name, 0) as key
      from json_array_elements_text(${JSON.stringify(names)}::json) as name order by key
    ) keys`
}

/**
 * For who makes deliveries unfinished, by adding them or putting them back: alone, since there is no unfinished row yet
 * that two of them would both lock. It comes before any lock on a delivery.
 */
export const enterLanes = locking("pg_advisory_xact_lock")

/**
 * For who finishes deliveries: beside others who do, but not beside who adds some. It comes before the finished ones
 * are locked, or else each would hold what the other waits for.
 */
export const shareLanes = locking("pg_advisory_xact_lock_shared")

/** The same without waiting for anybody: returns the names of the integrations whose lanes it has locked. */
export const tryShareLanes = (sql: SqlClient.SqlClient) => (places: ReadonlyArray<Place>) => {
  const rows = Array.from(new Map(places.map((place) => [lockName(place), place])), ([name, { integration }]) => ({
    name,
    integration
  }))
  return Effect.map(
    sql<{ integration: string }>`
      select integration from json_to_recordset(${JSON.stringify(rows)}::json) as place (name text, integration text)
      where pg_try_advisory_xact_lock_shared(hashtextextended(name, 0))`,
    (locked) => new Set(locked.map(({ integration }) => integration))
  )
}

/** Holds deliveries, given as rows of tenant and id, in the order in which everybody holds them. */
const holding = (sql: SqlClient.SqlClient, rows: Fragment) => sql`
  with held as materialized (
    select 1 from (${rows}) wanted (tenant, id)
    join deliveries d on d.tenant_id = wanted.tenant and d.id = wanted.id order by d.id for no key update of d
  )
  select count(*) from held`

/** The delivery of a lane that is sent, if there is one. */
const pendingOf = `select d.ctid as row, d.id, d.lease from deliveries d where ${ofLanes} and d.status = 'PENDING' limit 1`

/** The first delivery of a lane that is not finished. */
const headOf = `select d.ctid as row, d.id, d.status from deliveries d where ${ofLanes} and d.${unfinished} order by d.sequence limit 1`

/** Holds what is sent in these lanes, and the deliveries of `more`. However many wait behind it, they cost nothing. */
export const holdLanes =
  (sql: SqlClient.SqlClient) =>
  (lanes: ReadonlyArray<Lane>, more: Fragment = sql`select '', '' where false`) =>
    holding(
      sql,
      sql`select lane.tenant, pending.id from (${rowsOf(sql, lanes)}) lane
        cross join lateral (${sql.literal(pendingOf)}) pending
        union ${more}`
    )

/**
 * Makes the first unfinished delivery of each lane the one that is sent, unless one is being sent at the moment, and
 * lets the one that was to be sent wait. It must be held.
 */
export const arrangeLanes = (sql: SqlClient.SqlClient) => (lanes: ReadonlyArray<Lane>) =>
  sql`
  with changed as materialized (
    select head.row as head, pending.row as pending
    from (${rowsOf(sql, lanes)}) lane
    cross join lateral (${sql.literal(headOf)}) head
    left join lateral (${sql.literal(pendingOf)}) pending on true
    where pending.lease is null and pending.id is distinct from head.id
  )
  update deliveries d set updated_at = now(), next_attempt_at = coalesce(d.next_attempt_at, now()),
    status = case when d.ctid = any (array(select head from changed)) then 'PENDING' else 'WAITING' end
  where d.ctid = any (array(select head from changed union all select pending from changed))`

/**
 * Puts lanes right in which deliveries were made unfinished by this transaction. Who finishes deliveries advances the
 * lanes instead, and who has entered them to share cannot have them alone afterwards.
 */
export const settleLanes = (sql: SqlClient.SqlClient) => (lanes: ReadonlyArray<Lane>) =>
  enterLanes(sql)(lanes).pipe(
    Effect.zipRight(holdLanes(sql)(lanes)),
    Effect.zipRight(arrangeLanes(sql)(lanes)),
    Effect.asVoid
  )

/** Lets the next of each lane be sent, for who shares the lanes and has just finished the ones before. */
export const advanceLanes = (sql: SqlClient.SqlClient) => (lanes: ReadonlyArray<Lane>) =>
  sql`
  update deliveries d set status = 'PENDING', updated_at = now(), next_attempt_at = coalesce(d.next_attempt_at, now())
  where d.ctid = any (array(
    select head.row from (${rowsOf(sql, lanes)}) lane
    left join lateral (${sql.literal(pendingOf)}) pending on true
    cross join lateral (${sql.literal(headOf)}) head
    where pending.id is null and head.status = 'WAITING'))`
