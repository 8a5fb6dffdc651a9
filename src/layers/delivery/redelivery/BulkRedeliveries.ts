import type * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import {
  DeliveryId,
  type Redelivery,
  type RedeliveryResult,
  requireRedeliveryCapacity
} from "../../../domain/delivery/Delivery.ts"
import { NotFound } from "../../../domain/Errors.ts"
import { prefixOf } from "../../../domain/Ids.ts"
import { inTransaction } from "../../infra/postgres/connection/Transactions.ts"
import { makeId, minIdAt } from "../../infra/postgres/IdGenerator.ts"
import {
  isFinishedSql,
  lockOrderingExclusive,
  lockPendingDeliveries,
  type OrderingKey,
  reorderDeliveries
} from "../DeliveryOrder.ts"
import { redeliverySetClause } from "./SingleRedelivery.ts"

/** Limits of one transaction. While it runs, no worker can record results for the integration. */
export interface RedeliveryLimits {
  readonly maxScanned: number
  readonly maxRequeued: number
}

export const redeliveryLimits: RedeliveryLimits = { maxScanned: 5000, maxRequeued: 250 }

const retrySeconds = 30

/** A bulk redelivery that is not complete yet. */
export interface OpenRedelivery {
  readonly tenant: string
  readonly id: string
  readonly integration: string
}

interface Page {
  /** Null in the only row of a page without matches. */
  readonly resource: string | null
  readonly recipient: string | null
  readonly id: string | null
  readonly scanned: number
  readonly last: string | null
}

/** Maximum skew between the clock behind a delivery's id and the clock behind its `created_at`. */
const maxClockSkewMs = 60 * 60 * 1000

/** Bulk redeliveries. The API runs the first step of each, and workers run the others. */
export const makeBulkRedeliveries = (
  sql: SqlClient.SqlClient,
  { maxRequeued, maxScanned }: RedeliveryLimits = redeliveryLimits
) => {
  const lockOrdering = lockOrderingExclusive(sql)
  const lockPending = lockPendingDeliveries(sql)
  const reorder = reorderDeliveries(sql)

  const hasId = ({ id, tenant }: OpenRedelivery) => sql`r.tenant_id = ${tenant} and r.id = ${id}`

  /**
   * Matches deliveries that were finished at the time of the request, and that no other request has requeued since. Mails
   * that may have arrived must be asked for.
   */
  const isMatch = sql.literal(`
    d.created_at between r.since and r.until and d.updated_at <= r.created_at
    and d.${isFinishedSql} and case when r.status is null then d.status <> 'UNCERTAIN' else d.status = r.status end`)

  /** The next matching deliveries, and the end of the scan. */
  const loadPage = (open: OpenRedelivery) => sql<Page>`
    with scanned as materialized (
      select d.id, d.resource_id, d.recipient, ${isMatch} as wanted from redeliveries r cross join lateral (
        select * from deliveries d
        where d.tenant_id = r.tenant_id and d.integration_id = r.integration_id and d.id > r.after_id and d.id <= r.last_id
        order by d.id limit ${maxScanned}
      ) d where ${hasId(open)}
    )
    select wanted.id, wanted.resource_id as resource, wanted.recipient, counted.count as scanned, counted.last
    from (select count(*) as count, max(id) as last from scanned) counted
    left join (select * from scanned where wanted order by id limit ${maxRequeued}) wanted on true order by wanted.id`

  /** Requeues deliveries of locked ordering keys only: one that finished after the scan may have another key. */
  const requeueUpTo = (open: OpenRedelivery, last: string, keys: ReadonlyArray<OrderingKey>) => sql<{ count: number }>`
    with back as (
      update deliveries d set ${sql.literal(redeliverySetClause)} from redeliveries r
      where ${hasId(open)} and d.tenant_id = r.tenant_id and d.integration_id = r.integration_id
        and d.id > r.after_id and d.id <= ${last} and ${isMatch}
        and (d.resource_id || coalesce('/' || d.recipient, '')) in (
          select key.resource || coalesce('/' || key.recipient, '')
          from json_to_recordset(${JSON.stringify(keys)}::json) as key (resource text, recipient text))
      returning 1
    ) select count(*) from back`

  const saveProgress = (open: OpenRedelivery, last: string, count: number) => sql<{ total: number }>`
    update redeliveries r set after_id = ${last}, count = count + ${count}, due_at = now()
    where ${hasId(open)} returning count as total`

  const complete = (open: OpenRedelivery, count: number) => sql<{ total: number }>`
    delete from redeliveries r where ${hasId(open)} returning count + ${count}::bigint as total`

  /** Runs one step. The caller has locked the row of the bulk redelivery. */
  const runStep = Effect.fnUntraced(function* (open: OpenRedelivery) {
    const { integration, tenant } = open
    yield* lockOrdering([open])
    const rows = yield* loadPage(open)
    const matches = rows.flatMap(({ id, recipient, resource }) =>
      id === null || resource === null ? [] : [{ id, recipient, resource }]
    )
    const isFull = matches.length === maxRequeued
    const last = (isFull ? matches.at(-1)?.id : rows[0]?.last) ?? ""
    const isComplete = !isFull && (rows[0]?.scanned ?? 0) < maxScanned
    let count = 0
    if (matches.length > 0) {
      const orderingKeys = matches.map(({ recipient, resource }) => ({ tenant, integration, resource, recipient }))
      const ids = JSON.stringify(matches.map(({ id }) => id))
      yield* lockPending(orderingKeys, sql`select ${tenant}, json_array_elements_text(${ids}::json)`)
      const [requeued] = yield* requeueUpTo(open, last, orderingKeys)
      count = requeued?.count ?? 0
      yield* reorder(orderingKeys)
    }
    const [row] = yield* isComplete ? complete(open, count) : saveProgress(open, last, count)
    return { redelivered: count, isComplete, total: row?.total ?? count }
  })

  const lockIntegration = (tenant: string, integration: string) =>
    Effect.filterOrFail(
      sql<object>`select 1 from integrations where tenant_id = ${tenant} and id = ${integration} for key share`,
      (rows) => rows.length === 1,
      () => new NotFound()
    )

  const insert = ({ id, integration, tenant }: OpenRedelivery, { since, status, until }: Redelivery) => sql`
    insert into redeliveries (tenant_id, id, integration_id, since, until, status, after_id, last_id, count, created_at,
      due_at)
    select ${tenant}, ${id}, ${integration}, ${since}::timestamptz, least(${until ?? "infinity"}::timestamptz, now()),
      ${status ?? null}, ${minIdAt(prefixOf(DeliveryId), Date.parse(since) - maxClockSkewMs)},
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
   * Locks a bulk redelivery, and returns no row if it is complete or another worker has it. It locks the integration
   * too: otherwise a concurrent deletion of the integration could deadlock with this transaction.
   */
  const lockRow = (open: OpenRedelivery) => sql<object>`
    select 1 from redeliveries r join integrations i on i.tenant_id = r.tenant_id and i.id = r.integration_id
    where ${hasId(open)} for key share of i skip locked for update of r skip locked`

  return {
    /** Creates a bulk redelivery and runs its first step, which completes the common small one. */
    start: (tenant: string, integration: string, filter: Redelivery) =>
      Effect.gen(function* () {
        yield* lockIntegration(tenant, integration)
        yield* lockOrdering([{ tenant, integration }])
        yield* Effect.flatMap(countOpen(tenant, integration), requireRedeliveryCapacity)
        const open = { tenant, integration, id: makeId("rdl") }
        yield* insert(open, filter)
        const { isComplete, redelivered } = yield* runStep(open)
        return { redelivered, isComplete } satisfies RedeliveryResult
      }).pipe(inTransaction(sql)),

    /** The next due bulk redelivery of a tenant after `afterTenant`. */
    nextDue: (afterTenant: string) =>
      Effect.orDie(sql<OpenRedelivery>`
        select r.tenant_id as tenant, r.id, r.integration_id as integration
        from redeliveries r join tenants t on t.id = r.tenant_id and t.deleted_at is null
        where r.tenant_id > ${afterTenant} and r.due_at <= now()
        order by r.tenant_id, r.due_at limit 1`).pipe(Effect.map(([open]) => open)),

    /** Runs the next step. Returns undefined if another worker runs it, or the bulk redelivery is complete. */
    advance: (open: OpenRedelivery) =>
      lockRow(open).pipe(
        Effect.flatMap((rows) => (rows.length === 0 ? Effect.succeed(undefined) : runStep(open))),
        inTransaction(sql)
      ),

    /** Delays the next step after a failure. */
    postpone: (open: OpenRedelivery) =>
      Effect.orDie(sql`
        update redeliveries r set due_at = now() + make_interval(secs => ${retrySeconds})
        where ${hasId(open)}`)
  }
}
