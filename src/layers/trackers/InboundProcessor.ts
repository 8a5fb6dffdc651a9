import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import { Array as Arrays, Cause, Effect } from "effect"
import type { InboundKey } from "../infra/nats/InboundStream.ts"
import { isConnectionBroken } from "../infra/postgres/connection/TransientErrors.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { makeBatchLoader } from "./intake/BatchLoader.ts"
import type { IssueRef } from "./intake/IssueRef.ts"
import { type BatchResult, makeProcessBatch } from "./intake/ProcessBatch.ts"
import { makeProcessOne } from "./intake/ProcessOne.ts"
import { makeSaveBatch } from "./intake/SaveBatch.ts"

/**
 * The broker normally delivers a webhook within this time. The backoff after a failure grows with the square of the
 * attempts.
 */
const graceSeconds = 2

/** Limits of one search for overdue issues. */
const maxOverduePerIntegration = 50
const maxScannedPerIntegration = 1000

/** After a failed batch the tenants run apart, two at a time, so that one slow tenant does not block all others. */
const maxConcurrentTenants = 2

const mergeResults = (batches: ReadonlyArray<BatchResult>): BatchResult => ({
  results: batches.flatMap(({ results }) => results),
  left: batches.flatMap(({ left }) => left),
  busy: batches.flatMap(({ busy }) => busy),
  billed: batches.flatMap(({ billed }) => billed)
})

/** Processes inbound webhooks by issue. A webhook and its effects share one transaction. */
export class InboundProcessor extends Effect.Service<InboundProcessor>()("layers/InboundProcessor", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const loader = makeBatchLoader(sql)
    const saveBatch = makeSaveBatch(sql)
    const processBatch = makeProcessBatch(sql, loader, saveBatch)
    const processOne = makeProcessOne(sql, loader, saveBatch)

    /**
     * Processes issues in one batch. A failed batch is split by tenant, then in halves, until single issues are left.
     */
    const processOrSplit = (keys: ReadonlyArray<IssueRef>): Effect.Effect<BatchResult, SqlError> =>
      Effect.catchAllCause(processBatch(keys), (cause) =>
        isConnectionBroken(Cause.squash(cause))
          ? Effect.failCause(cause)
          : Effect.zipRight(
              Effect.logDebug(`A batch with the webhooks of ${keys.length} issues failed and is split`, cause),
              splitBatch(keys)
            )
      )

    const splitBatch = (keys: ReadonlyArray<IssueRef>): Effect.Effect<BatchResult, SqlError> => {
      if (keys.length === 1) return Effect.succeed({ results: [], left: [], busy: [], billed: keys })
      const tenants = Object.values(Arrays.groupBy(keys, ({ tenant }) => tenant))
      const half = Math.ceil(keys.length / 2)
      const processed =
        tenants.length > 1
          ? Effect.forEach(tenants, processOrSplit, { concurrency: maxConcurrentTenants })
          : Effect.forEach([keys.slice(0, half), keys.slice(half)], processOrSplit)
      return Effect.map(processed, mergeResults)
    }

    /** A failure concerns this issue alone. The other issues go on, and this one is retried later. */
    const processSingle = (key: IssueRef) =>
      processOne(key).pipe(
        Effect.map(({ hasMore, isBusy, results }) => ({ key, results, isBusy, hasMore })),
        Effect.catchAllCause((cause) =>
          isConnectionBroken(Cause.squash(cause))
            ? Effect.failCause(cause)
            : Effect.as(Effect.logWarning(`The webhooks of issue ${key.issue} failed and are retried later`, cause), {
                key,
                results: [],
                isBusy: true,
                hasMore: false
              })
        )
      )

    return {
      /**
       * Processes the pending webhooks of issues, in the order of each issue's changes. Returns the result of every
       * webhook, the issues with more pending webhooks (`left`), and the issues that another worker has locked
       * (`busy`).
       */
      processIssues: (keys: ReadonlyArray<IssueRef>) =>
        Effect.gen(function* () {
          const { billed, busy, left, results } = yield* processOrSplit(keys)
          const singles = yield* Effect.forEach(billed, processSingle)
          return {
            results: [...results, ...singles.flatMap((single) => single.results)],
            left: [...left, ...singles.filter(({ hasMore }) => hasMore).map(({ key }) => key)],
            busy: [...busy, ...singles.filter(({ isBusy }) => isBusy).map(({ key }) => key)]
          }
        }).pipe(Effect.orDie),

      /** The issues of those webhooks that are still pending and belong to an active integration. */
      findPendingIssues: (keys: ReadonlyArray<Omit<InboundKey, "integration">>) =>
        Effect.orDie(sql<IssueRef & { readonly id: string }>`
          select w.id, w.tenant_id as tenant, w.integration_id as integration, w.issue_id as issue
          from json_to_recordset(${JSON.stringify(keys)}::json) as given (tenant text, id text)
          join inbound_webhooks w on w.tenant_id = given.tenant and w.id = given.id and w.status = 'RECEIVED'
          join integrations i on i.tenant_id = w.tenant_id and i.id = w.integration_id and i.status = 'ACTIVE'`),

      /**
       * Issues with an overdue webhook, which the broker has not delivered in time. Returns a few issues per
       * integration, and the first issue of every tenant before the second of any tenant.
       */
      findOverdueIssues: (max: number) =>
        Effect.orDie(sql<IssueRef>`
          select waiting.tenant_id as tenant, waiting.integration_id as integration, waiting.issue_id as issue
          from integrations i join tenants t on t.id = i.tenant_id and t.deleted_at is null
          cross join lateral (
            select distinct tenant_id, integration_id, issue_id from (
              select w.tenant_id, w.integration_id, w.issue_id from inbound_webhooks w
              where w.tenant_id = i.tenant_id and w.integration_id = i.id and w.status = 'RECEIVED'
                and greatest(w.received_at, w.processed_at)
                  < now() - make_interval(secs => ${graceSeconds}::integer * (1 + w.attempts * w.attempts))
              limit ${maxScannedPerIntegration}
            ) due
            limit ${maxOverduePerIntegration}
          ) waiting
          where i.provider = 'JIRA' and i.status = 'ACTIVE'
          order by row_number() over (partition by waiting.tenant_id order by random()), random() limit ${max}`)
    }
  }).pipe(withSpans("InboundProcessor"))
}) {}
