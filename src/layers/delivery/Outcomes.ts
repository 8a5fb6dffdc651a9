import * as SqlClient from "@effect/sql/SqlClient"
import { Array, Effect } from "effect"
import type { Pool } from "../../domain/delivery/SendLimits.ts"
import { storableText } from "../../domain/StorableText.ts"
import type { TenantId } from "../../domain/tenancy/Tenant.ts"
import { atomically } from "../postgres/connection/Transaction.ts"
import { finishing } from "../postgres/connection/Transactions.ts"
import { advanceLanes, type Lane, shareLanes, tryShareLanes } from "./Lanes.ts"

/** What came of one attempt. */
export interface Outcome {
  readonly tenant: TenantId
  readonly integration: string
  readonly id: string
  readonly lease: string
  readonly delivered: boolean
  readonly attemptedAt: string
  readonly latencyMs: number
  readonly status?: number | undefined
  readonly body?: string | undefined
  readonly error?: string | undefined
  /** When it is tried again; never, if this is left out. */
  readonly nextAttemptAt?: string | undefined
  /** Why the integration is stopped until a person has done something about it. */
  readonly stop?: string | undefined
  /** What is known by now of how quickly the receiver answers. */
  readonly pool?: Pool | undefined
}

/** What a receiver says must not make its outcome impossible to record; what PostgreSQL has no use for is left out. */
const storable = (outcome: Outcome): Outcome => ({
  ...outcome,
  nextAttemptAt: outcome.delivered ? undefined : outcome.nextAttemptAt,
  stop: undefined,
  body: outcome.body === undefined ? undefined : storableText(outcome.body),
  error: outcome.error === undefined ? undefined : storableText(outcome.error)
})

/** What was done about an outcome: its lane can go on, it is to be tried again, or somebody else has it locked. */
interface Written extends Lane {
  readonly row: string
  readonly id: string
  readonly lease: string
  readonly now: "FINISHED" | "FAILED" | "BUSY"
}

/** What is written down of an attempt that is to be repeated, and where. */
type Failed = Pick<Outcome, "status" | "error" | "nextAttemptAt"> & Pick<Written, "row">

const keyOf = ({ id, lease }: Pick<Outcome, "id" | "lease">) => `${lease} ${id}`

const withRows = (outcomes: ReadonlyArray<Outcome>, written: ReadonlyArray<Written>): ReadonlyArray<Failed> => {
  const rows = new Map(written.map((each) => [keyOf(each), each.row]))
  return outcomes.flatMap((outcome) => {
    const row = rows.get(keyOf(outcome))
    const { error, nextAttemptAt, status } = outcome
    return row === undefined ? [] : [{ row, status, error, nextAttemptAt }]
  })
}

/** Writes down what came of attempts, and lets those that waited for them go on. */
export class Outcomes extends Effect.Service<Outcomes>()("layers/Outcomes", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => {
    const given = (
      outcomes: ReadonlyArray<Outcome>
    ) => sql`json_to_recordset(${JSON.stringify(outcomes)}::json) as given
      (tenant text, integration text, id text, lease text, delivered boolean, "attemptedAt" timestamptz,
       "latencyMs" integer, status integer, body text, error text, "nextAttemptAt" timestamptz, pool text)`

    /** What every attempt leaves at its delivery. */
    const attempted = sql.literal(`attempts = attempts + 1, lease = null, leased_until = null,
      next_attempt_at = "nextAttemptAt", response_status = given.status, error = given.error, updated_at = now()`)

    /**
     * Only the worker that still has the lease may write. Waits for no lock: what others have locked is left for later, as
     * when an integration is being deleted. What is to be tried again is held for `goOn`.
     */
    const write = (outcomes: ReadonlyArray<Outcome>) => sql<Written>`
      with ours as materialized (
        select given.*, delivery.row, delivery.tenant_id, delivery.integration_id, delivery.resource_id,
          delivery.attempts + 1 as number
        from ${given(outcomes)} cross join lateral (
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
        select tenant_id, id, number, "attemptedAt", case when delivered then 'DELIVERED' else 'FAILED' end,
          "latencyMs", status, body, error
        from held
      ), settled as (
        update deliveries set status = case when delivered then 'DELIVERED' else 'EXHAUSTED' end,
          delivered_at = case when delivered then now() end, ${attempted}
        from held as given
        where deliveries.ctid = any (array(select row from held where "nextAttemptAt" is null))
          and deliveries.ctid = given.row
      )
      select row::text, tenant_id as tenant, integration_id as integration, resource_id as resource, id, lease, case
        when not exists (select 1 from held where held.row = ours.row) then 'BUSY'
        when "nextAttemptAt" is null then 'FINISHED' else 'FAILED' end as now
      from ours`

    /**
     * Lets the lanes of what is finished go on, and what has failed be tried again. Both may make queues due earlier and
     * wait for those: in one statement, so that everybody locks them in the same order.
     */
    const goOn = (finished: ReadonlyArray<Lane>, failed: ReadonlyArray<Failed>) => sql`
      with given as materialized (
        select * from json_to_recordset(${JSON.stringify(failed)}::json)
          as given (row tid, status integer, error text, "nextAttemptAt" timestamptz)
      ), again as (
        update deliveries set ${attempted} from given
        where deliveries.ctid = any (array(select row from given)) and deliveries.ctid = given.row
      ) ${advanceLanes(sql)(finished)}`

    /**
     * Since when an integration fails, and how quickly its receiver answers. It is written when it changes, not each
     * time; while somebody else has the integration locked it is left to the next outcome.
     */
    const judge = (outcomes: ReadonlyArray<Outcome>) => sql`
      with told as (
        select tenant, integration, bool_or(delivered) as works, max(pool) as pool from ${given(outcomes)} group by 1, 2
      ), changed as (
        select integrations.tenant_id, integrations.id, works,
          case when pool is null then latency_class else nullif(pool, 'NEW') end as class
        from told join integrations on tenant_id = told.tenant and id = told.integration
        where (failing_since is null) <> works
          or (pool is not null and latency_class is distinct from nullif(pool, 'NEW'))
        for no key update of integrations skip locked
      )
      update integrations set latency_class = class,
        failing_since = case when works then null else coalesce(failing_since, now()) end
      from changed where integrations.tenant_id = changed.tenant_id and integrations.id = changed.id`

    /** The integrations whose lanes are locked, all of them if that is to be waited for. */
    const lock = (outcomes: ReadonlyArray<Outcome>, isWaiting: boolean) =>
      isWaiting
        ? Effect.as(shareLanes(sql)(outcomes), new Set(outcomes.map(({ integration }) => integration)))
        : tryShareLanes(sql)(outcomes)

    /** Returns the keys of what is left to record. */
    const settle = (outcomes: ReadonlyArray<Outcome>, isWaiting: boolean) =>
      atomically(sql)(
        Effect.gen(function* () {
          const locked = yield* lock(outcomes, isWaiting)
          const [busy, open] = Array.partition(outcomes, ({ integration }) => locked.has(integration))
          if (open.length === 0) return busy.map(keyOf)
          const written = yield* write(open)
          const {
            BUSY: skipped = [],
            FAILED: failed = [],
            FINISHED: finished = []
          } = Array.groupBy(written, (each) => each.now)
          if (finished.length + failed.length > 0) yield* finishing(goOn(finished, withRows(open, failed)))
          return [...busy, ...skipped].map(keyOf)
        })
      )

    return {
      /**
       * Records outcomes and returns those that it could not record yet, because somebody else has their lanes or
       * deliveries locked: nobody waits for these, unless with `isWaiting`, which takes a place in the queue for the locks.
       * How an integration fares is no part of the outcomes, and nobody waits for that.
       */
      record: (outcomes: ReadonlyArray<Outcome>, isWaiting = false): Effect.Effect<ReadonlyArray<Outcome>> => {
        const rows = outcomes.map(storable)
        return Effect.zipLeft(settle(rows, isWaiting), Effect.ignoreLogged(judge(rows)), { concurrent: true }).pipe(
          Effect.orDie,
          Effect.map((keys) => {
            const left = new Set(keys)
            return outcomes.filter((outcome) => left.has(keyOf(outcome)))
          })
        )
      }
    }
  })
}) {}
