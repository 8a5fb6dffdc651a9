import type * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect } from "effect"
import { finishedStatuses, unfinishedStatuses } from "../../domain/delivery/Delivery.ts"

/**
 * The ordering key: workers send deliveries about the same resource to the same integration one after the other. Each
 * recipient of mails has an order of its own.
 */
export interface OrderingKey {
  readonly tenant: string
  readonly integration: string
  readonly resource: string
  readonly recipient?: string | null | undefined
}

const quote = (statuses: ReadonlyArray<string>) => statuses.map((status) => `'${status}'`).join(", ")

export const isUnfinishedSql = `status in (${quote(unfinishedStatuses)})`
export const isFinishedSql = `status in (${quote(finishedStatuses)})`

/** Ordering keys as rows of a statement. */
const rowsOf = (sql: SqlClient.SqlClient, keys: ReadonlyArray<OrderingKey>) => sql`
  select distinct * from json_to_recordset(${JSON.stringify(keys)}::json)
    as key (tenant text, integration text, resource text, recipient text)`

/** The key as one SQL value, like in its index. With separate columns the planner may choose another index. */
const orderingKeySql = (tenant: string, integration: string, resource: string, recipient: string) =>
  `(${tenant} || '/' || ${integration} || '/' || ${resource} || coalesce('/' || ${recipient}, ''))`

/** Whether the delivery of one alias has the ordering key that another alias contains. */
export const hasOrderingKeySql = (delivery: string, key: string) =>
  `${orderingKeySql(`${delivery}.tenant_id`, `${delivery}.integration_id`, `${delivery}.resource_id`, `${delivery}.recipient`)}
    = ${orderingKeySql(`${key}.tenant`, `${key}.integration`, `${key}.resource`, `${key}.recipient`)}`

const hasOrderingKey = hasOrderingKeySql("d", "key")

type IntegrationKey = Pick<OrderingKey, "tenant" | "integration">

const lockName = ({ integration, tenant }: IntegrationKey) => `deliveries ${tenant} ${integration}`

/** Takes one advisory lock per integration until the transaction ends, in a fixed order against deadlocks. */
const makeAdvisoryLock =
  (lock: string) => (sql: SqlClient.SqlClient) => (integrations: ReadonlyArray<IntegrationKey>) => {
    const names = integrations.map(lockName)
    return sql`
    select ${sql.literal(lock)}(key) from (
      select distinct hashtextextended(name, 0) as key
      from json_array_elements_text(${JSON.stringify(names)}::json) as name order by key
    ) keys`
  }

/**
 * Exclusive lock for transactions that insert or requeue deliveries. Row locks do not suffice: there is no unfinished
 * row yet that both would lock. Take it before any row lock on a delivery.
 */
export const lockOrderingExclusive = makeAdvisoryLock("pg_advisory_xact_lock")

/**
 * Shared lock for transactions that finish deliveries: they run concurrently with each other, but not with inserts.
 * Take it before the row locks on the finished deliveries, or the two deadlock.
 */
export const lockOrderingShared = makeAdvisoryLock("pg_advisory_xact_lock_shared")

/** Tries the shared lock without waiting. Returns the integrations that it has locked. */
export const tryLockOrderingShared = (sql: SqlClient.SqlClient) => (integrations: ReadonlyArray<IntegrationKey>) => {
  const rows = Array.from(new Map(integrations.map((each) => [lockName(each), each])), ([name, { integration }]) => ({
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

/** Locks deliveries, given as rows of tenant and id. The fixed order prevents deadlocks. */
const lockDeliveries = (sql: SqlClient.SqlClient, rows: Fragment) => sql`
  with locked as materialized (
    select 1 from (${rows}) wanted (tenant, id)
    join deliveries d on d.tenant_id = wanted.tenant and d.id = wanted.id order by d.id for no key update of d
  )
  select count(*) from locked`

/** The PENDING delivery of an ordering key, if there is one. */
const pendingOf = `select d.ctid as row, d.id, d.lease from deliveries d where ${hasOrderingKey} and d.status = 'PENDING' limit 1`

/** The first unfinished delivery of an ordering key. */
const headOf = `select d.ctid as row, d.id, d.status from deliveries d where ${hasOrderingKey} and d.${isUnfinishedSql} order by d.sequence limit 1`

/** Locks the PENDING deliveries of ordering keys, and `others`. The cost does not depend on how many wait behind them. */
export const lockPendingDeliveries =
  (sql: SqlClient.SqlClient) =>
  (keys: ReadonlyArray<OrderingKey>, others: Fragment = sql`select '', '' where false`) =>
    lockDeliveries(
      sql,
      sql`select key.tenant, pending.id from (${rowsOf(sql, keys)}) key
        cross join lateral (${sql.literal(pendingOf)}) pending
        union ${others}`
    )

/**
 * Makes the first unfinished delivery of each ordering key PENDING, and the previous PENDING one WAITING. A key with a
 * delivery in flight stays as it is. The caller must have locked the PENDING delivery.
 */
export const reorderDeliveries = (sql: SqlClient.SqlClient) => (keys: ReadonlyArray<OrderingKey>) =>
  sql`
  with changed as materialized (
    select head.row as head, pending.row as pending
    from (${rowsOf(sql, keys)}) key
    cross join lateral (${sql.literal(headOf)}) head
    left join lateral (${sql.literal(pendingOf)}) pending on true
    where pending.lease is null and pending.id is distinct from head.id
  )
  update deliveries d set updated_at = now(), next_attempt_at = coalesce(d.next_attempt_at, now()),
    status = case when d.ctid = any (array(select head from changed)) then 'PENDING' else 'WAITING' end
  where d.ctid = any (array(select head from changed union all select pending from changed))`

/**
 * Restores the order after this transaction has inserted or requeued deliveries. Not for transactions that finish
 * deliveries: they have the shared lock and cannot upgrade it to the exclusive one.
 */
export const lockAndReorderDeliveries = (sql: SqlClient.SqlClient) => (keys: ReadonlyArray<OrderingKey>) =>
  lockOrderingExclusive(sql)(keys).pipe(
    Effect.zipRight(lockPendingDeliveries(sql)(keys)),
    Effect.zipRight(reorderDeliveries(sql)(keys)),
    Effect.asVoid
  )

/** Makes the next delivery of each ordering key PENDING. The caller has the shared lock and has finished the ones before. */
export const promoteNextDeliveries = (sql: SqlClient.SqlClient) => (keys: ReadonlyArray<OrderingKey>) =>
  sql`
  update deliveries d set status = 'PENDING', updated_at = now(), next_attempt_at = coalesce(d.next_attempt_at, now())
  where d.ctid = any (array(
    select head.row from (${rowsOf(sql, keys)}) key
    left join lateral (${sql.literal(pendingOf)}) pending on true
    cross join lateral (${sql.literal(headOf)}) head
    where pending.id is null and head.status = 'WAITING'))`
