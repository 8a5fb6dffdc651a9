import * as SqlClient from "@effect/sql/SqlClient"
import { Array, Effect } from "effect"
import type { SendPool } from "../../domain/delivery/SendLimits.ts"
import { toStorableText } from "../../domain/StorableText.ts"
import type { TenantId } from "../../domain/tenancy/Tenant.ts"
import { commitWith, inTransaction } from "../infra/postgres/connection/Transactions.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { lockOrderingShared, type OrderingKey, promoteNextDeliveries, tryLockOrderingShared } from "./DeliveryOrder.ts"
import { type MailResult, makeMailProofs } from "./MailProofs.ts"

/** The result of one attempt. */
export interface AttemptResult {
  readonly tenant: TenantId
  readonly integration: string
  readonly id: string
  readonly lease: string
  readonly delivered: boolean
  /** The receiver may have got it, and it must not be sent again. */
  readonly isUncertain?: boolean | undefined
  readonly attemptedAt: string
  readonly latencyMs: number
  readonly status?: number | undefined
  readonly body?: string | undefined
  readonly error?: string | undefined
  /** Time of the next attempt; undefined after the last one. */
  readonly nextAttemptAt?: string | undefined
  /** Why the integration must stop until a person fixes the cause. */
  readonly stopReason?: string | undefined
  /** The latency class of the receiver, as measured so far. */
  readonly pool?: SendPool | undefined
  /** What became of the mail of a delivery to an EMAIL integration. */
  readonly mail?: MailResult | undefined
}

interface StorableResult extends AttemptResult {
  /** Whether the receiver works. A mail server that refuses one recipient does. */
  readonly works: boolean
}

/** Removes what PostgreSQL cannot store, so that no response of a receiver can prevent the insert. */
const toStorable = (result: AttemptResult): StorableResult => ({
  ...result,
  nextAttemptAt: result.delivered || result.isUncertain ? undefined : result.nextAttemptAt,
  works: result.delivered || result.mail?.outcome === "REFUSED",
  stopReason: undefined,
  mail: undefined,
  body: result.body === undefined ? undefined : toStorableText(result.body),
  error: result.error === undefined ? undefined : toStorableText(result.error)
})

/** How a result was written: the delivery is finished, the attempt failed, or another transaction has the row locked. */
interface Written extends OrderingKey {
  readonly row: string
  readonly id: string
  readonly lease: string
  readonly now: "FINISHED" | "FAILED" | "BUSY"
}

/** The stored fields of a failed attempt that has a next one, and the `ctid` of its delivery. */
type Failed = Pick<AttemptResult, "status" | "error" | "nextAttemptAt"> & Pick<Written, "row">

const keyOf = ({ id, lease }: Pick<AttemptResult, "id" | "lease">) => `${lease} ${id}`

const failedRowsOf = (
  results: ReadonlyArray<AttemptResult>,
  written: ReadonlyArray<Written>
): ReadonlyArray<Failed> => {
  const rows = new Map(written.map((each) => [keyOf(each), each.row]))
  return results.flatMap((result) => {
    const row = rows.get(keyOf(result))
    const { error, nextAttemptAt, status } = result
    return row === undefined ? [] : [{ row, status, error, nextAttemptAt }]
  })
}

/** Records the results of attempts, and makes the next deliveries of the same ordering keys due. */
export class AttemptResults extends Effect.Service<AttemptResults>()("layers/AttemptResults", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => {
    const proofs = makeMailProofs(sql)
    const resultRows = (
      results: ReadonlyArray<AttemptResult>
    ) => sql`json_to_recordset(${JSON.stringify(results)}::json) as given
      (tenant text, integration text, id text, lease text, delivered boolean, "isUncertain" boolean, works boolean,
       "attemptedAt" timestamptz, "latencyMs" integer, status integer, body text, error text, "nextAttemptAt" timestamptz, pool text)`

    /** The columns of a delivery that every attempt updates. */
    const attemptColumns = sql.literal(`attempts = attempts + 1, lease = null, leased_until = null,
      next_attempt_at = "nextAttemptAt", response_status = given.status, error = given.error, updated_at = now()`)

    /**
     * Writes results whose worker still has the lease. It skips rows that another transaction has locked, for example the
     * deletion of the integration. Deliveries with a next attempt stay locked for the statement that schedules it.
     */
    const write = (results: ReadonlyArray<AttemptResult>) => sql<Written>`
      with ours as materialized (
        select given.*, delivery.row, delivery.tenant_id, delivery.integration_id, delivery.resource_id,
          delivery.recipient, delivery.attempts + 1 as number
        from ${resultRows(results)} cross join lateral (
          select ctid as row, * from deliveries where tenant_id = given.tenant and id = given.id limit 1
        ) delivery
        where delivery.lease = given.lease
      ), held as materialized (
        select ours.* from ours cross join lateral (
          select lease from deliveries where ctid = ours.row for update skip locked
        ) locked
        where locked.lease = ours.lease
      ), logged as (
        insert into delivery_attempts (tenant_id, delivery_id, number, attempted_at, outcome, latency_ms,
          response_status, response_body, error)
        select tenant_id, id, number, "attemptedAt", case when delivered then 'DELIVERED' when "isUncertain" then 'LOST' else 'FAILED' end,
          "latencyMs", status, body, error
        from held
      ), settled as (
        update deliveries set status = case when delivered then 'DELIVERED' when "isUncertain" then 'UNCERTAIN' else 'EXHAUSTED' end,
          delivered_at = case when delivered then now() end, ${attemptColumns}
        from held as given
        where deliveries.ctid = any (array(select row from held where "nextAttemptAt" is null))
          and deliveries.ctid = given.row
      )
      select row::text, tenant_id as tenant, integration_id as integration, resource_id as resource, recipient, id, lease, case
        when not exists (select 1 from held where held.row = ours.row) then 'BUSY'
        when "nextAttemptAt" is null then 'FINISHED' else 'FAILED' end as now
      from ours`

    /**
     * Schedules the next attempts, and the deliveries that waited for finished ones. Both can lock rows of queues, so they
     * are one statement: all transactions then lock the queues in the same order.
     */
    const scheduleNext = (finished: ReadonlyArray<OrderingKey>, failed: ReadonlyArray<Failed>) => sql`
      with given as materialized (
        select * from json_to_recordset(${JSON.stringify(failed)}::json)
          as given (row tid, status integer, error text, "nextAttemptAt" timestamptz)
      ), again as (
        update deliveries set ${attemptColumns} from given
        where deliveries.ctid = any (array(select row from given)) and deliveries.ctid = given.row
      ) ${promoteNextDeliveries(sql)(finished)}`

    /**
     * Updates since when an integration fails, and the latency class of its receiver. It writes changes only, and skips
     * integrations that another transaction has locked: the next result updates them.
     */
    const updateHealth = (results: ReadonlyArray<AttemptResult>) => sql`
      with latest as (
        select tenant, integration, bool_or(works) as works, max(pool) as pool from ${resultRows(results)} group by 1, 2
      ), changed as (
        select integrations.tenant_id, integrations.id, works,
          case when pool is null then latency_class else nullif(pool, 'NEW') end as class
        from latest join integrations on tenant_id = latest.tenant and id = latest.integration
        where (failing_since is null) <> works
          or (pool is not null and latency_class is distinct from nullif(pool, 'NEW'))
        for no key update of integrations skip locked
      )
      update integrations set latency_class = class,
        failing_since = case when works then null else coalesce(failing_since, now()) end
      from changed where integrations.tenant_id = changed.tenant_id and integrations.id = changed.id`

    /** Takes the shared lock of integrations. Returns those it has locked: all of them with `shouldWait`. */
    const lockIntegrations = (results: ReadonlyArray<AttemptResult>, shouldWait: boolean) =>
      shouldWait
        ? Effect.as(lockOrderingShared(sql)(results), new Set(results.map(({ integration }) => integration)))
        : tryLockOrderingShared(sql)(results)

    /** Records the mails of written results. */
    const recordMails = Effect.fnUntraced(function* (
      mails: ReadonlyMap<string, MailResult>,
      written: ReadonlyArray<Written>
    ) {
      for (const one of written) {
        const mail = mails.get(keyOf(one))
        if (mail !== undefined) yield* proofs.record(mail)
      }
    })

    /** Returns the keys of the results that it could not record. */
    const recordLocked = (
      results: ReadonlyArray<AttemptResult>,
      mails: ReadonlyMap<string, MailResult>,
      shouldWait: boolean
    ) =>
      inTransaction(sql)(
        Effect.gen(function* () {
          yield* proofs.lockDocuments([...mails.values()])
          const locked = yield* lockIntegrations(results, shouldWait)
          const [busy, open] = Array.partition(results, ({ integration }) => locked.has(integration))
          if (open.length === 0) return busy.map(keyOf)
          const written = yield* write(open)
          const {
            BUSY: skipped = [],
            FAILED: failed = [],
            FINISHED: finished = []
          } = Array.groupBy(written, (each) => each.now)
          yield* recordMails(mails, [...finished, ...failed])
          if (finished.length + failed.length > 0) yield* commitWith(scheduleNext(finished, failedRowsOf(open, failed)))
          return [...busy, ...skipped].map(keyOf)
        })
      )

    return {
      /**
       * Records results. Returns those that it could not record because another transaction has their integration or
       * delivery locked. With `shouldWait` it waits for the lock of the integration. The health of the integration is
       * best effort: a failure to update it does not fail the call.
       */
      record: (
        results: ReadonlyArray<AttemptResult>,
        shouldWait = false
      ): Effect.Effect<ReadonlyArray<AttemptResult>> => {
        const rows = results.map(toStorable)
        const mails = new Map(results.flatMap((result) => (result.mail ? [[keyOf(result), result.mail] as const] : [])))
        return Effect.zipLeft(recordLocked(rows, mails, shouldWait), Effect.ignoreLogged(updateHealth(rows)), {
          concurrent: true
        }).pipe(
          Effect.orDie,
          Effect.map((keys) => {
            const left = new Set(keys)
            return results.filter((result) => left.has(keyOf(result)))
          })
        )
      }
    }
  }).pipe(withSpans("AttemptResults"))
}) {}
