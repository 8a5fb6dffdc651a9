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

const ofLanes = "d.tenant_id = lane.tenant and d.integration_id = lane.integration and d.resource_id = lane.resource"

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
    select 1 from deliveries d where (d.tenant_id, d.id) in (${rows}) order by d.id for no key update
  )
  select count(*) from held`

/** Holds what is not finished of these lanes, and the deliveries of `more`. */
export const holdLanes =
  (sql: SqlClient.SqlClient) =>
  (lanes: ReadonlyArray<Lane>, more: Fragment = sql`select '', '' where false`) =>
    holding(
      sql,
      sql`select d.tenant_id, d.id from (${rowsOf(sql, lanes)}) lane
        join deliveries d on ${sql.literal(ofLanes)} and d.${sql.literal(unfinished)}
        union ${more}`
    )

/**
 * Makes the first unfinished delivery of each lane the one that is sent, unless one is being sent at the moment, and
 * lets the others wait. All that is unfinished must be held.
 */
export const arrangeLanes = (sql: SqlClient.SqlClient) => (lanes: ReadonlyArray<Lane>) =>
  sql`
  with arranged as (
    select d.tenant_id, d.id,
      case
        when d.lease is not null then 'PENDING'
        when bool_or(d.lease is not null) over whole then 'WAITING'
        when row_number() over (whole order by d.sequence) = 1 then 'PENDING'
        else 'WAITING'
      end as place
    from (${rowsOf(sql, lanes)}) lane join deliveries d on ${sql.literal(ofLanes)} and d.${sql.literal(unfinished)}
    window whole as (partition by d.tenant_id, d.integration_id, d.resource_id)
  )
  update deliveries d set status = place, updated_at = now(), next_attempt_at = coalesce(d.next_attempt_at, now())
  from arranged where d.tenant_id = arranged.tenant_id and d.id = arranged.id and d.status <> place`

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
  from (${rowsOf(sql, lanes)}) lane
  cross join lateral (
    select d.id, d.status from deliveries d where ${sql.literal(ofLanes)} and d.${sql.literal(unfinished)}
    order by d.status = 'WAITING', d.sequence limit 1
  ) first
  where d.tenant_id = lane.tenant and d.id = first.id and first.status = 'WAITING' and d.status = 'WAITING'`
