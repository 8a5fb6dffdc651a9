import type * as SqlClient from "@effect/sql/SqlClient"
import { Cause, Effect } from "effect"
import { CurrentTenant } from "../../../domain/tenancy/RequestContext.ts"
import { hasDrifted, issueEventTypes } from "../../../domain/trackers/IssueUpdate.ts"
import { inTransaction } from "../../infra/postgres/connection/Transactions.ts"
import { isStatementTimeout, isTransient } from "../../infra/postgres/connection/TransientErrors.ts"
import { makeDriftRecorder } from "../DriftRecorder.ts"
import type { BatchLoader, PendingWebhook } from "./BatchLoader.ts"
import { evaluateWebhook, failedOutcome, toProcessingResults } from "./InboundOutcome.ts"
import type { IssueRef } from "./IssueRef.ts"
import type { SaveBatch } from "./SaveBatch.ts"

/** Processes one issue. Each webhook has its own savepoint, so that a failing webhook does not stop the others. */
export const makeProcessOne = (sql: SqlClient.SqlClient, loader: BatchLoader, saveBatch: SaveBatch) => {
  const recordDrift = makeDriftRecorder(sql)

  const applyWebhook = Effect.fnUntraced(function* (key: IssueRef, webhook: PendingWebhook) {
    const before = (yield* loader.loadKnownIssues([key])).get(0)
    const { after, outcome, update } = yield* evaluateWebhook(key, before, webhook)
    const applied = after === undefined ? [] : [{ ...after, tenant: key.tenant, type: issueEventTypes[update.kind] }]
    yield* saveBatch(applied, [outcome])
    if (after !== undefined && hasDrifted(before?.issue, update.facts))
      yield* recordDrift(key.tenant, { site: webhook.site, before: before?.issue, after: after.issue })
    return outcome
  })

  /** Rolls back a failing webhook and saves only its error. An outage fails the whole issue instead. */
  const applyOrFail = (key: IssueRef, webhook: PendingWebhook) =>
    sql.withTransaction(applyWebhook(key, webhook)).pipe(
      Effect.catchAllCause((cause) => {
        const error = Cause.squash(cause)
        if (isTransient(error) && !isStatementTimeout(error)) return Effect.failCause(cause)
        const outcome = failedOutcome(key, webhook, error)
        return Effect.as(saveBatch([], [outcome]), outcome)
      })
    )

  /**
   * Returns the result of each webhook. `isBusy`: another worker has locked the issue. `hasMore`: more webhooks are
   * pending.
   */
  return (key: IssueRef) =>
    Effect.gen(function* () {
      if ((yield* loader.lockIssues([key])).length === 0) return { results: [], isBusy: true, hasMore: false }
      const { mayHaveMore, webhooks } = yield* loader.loadPending([key])
      const outcomes = yield* Effect.forEach(webhooks, (webhook) => applyOrFail(key, webhook))
      return { results: toProcessingResults(outcomes), isBusy: false, hasMore: mayHaveMore(0) }
    }).pipe(inTransaction(sql), Effect.provideService(CurrentTenant, key.tenant))
}
