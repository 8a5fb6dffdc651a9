import type * as SqlClient from "@effect/sql/SqlClient"
import { Cause, Effect } from "effect"
import { CurrentTenant } from "../../../domain/tenancy/Caller.ts"
import { eventOf, isDrift } from "../../../domain/tracker/Intake.ts"
import { isOutage, isStatementTimeout } from "../../postgres/connection/Outage.ts"
import { atomically } from "../../postgres/connection/Transaction.ts"
import { makeDrift } from "../Drift.ts"
import type { IssueKey } from "./IssueKey.ts"
import { failure, readOutcome, resultsOf } from "./Outcome.ts"
import type { Taking, Waiting } from "./Taking.ts"
import type { Writing } from "./Writing.ts"

/** Processes one issue. Each webhook has its own savepoint, so that a failing webhook does not stop the others. */
export const makeOneByOne = (sql: SqlClient.SqlClient, loader: Taking, saveBatch: Writing) => {
  const recordDrift = makeDrift(sql)

  const applyWebhook = Effect.fnUntraced(function* (key: IssueKey, webhook: Waiting) {
    const before = (yield* loader.known([key])).get(0)
    const { after, outcome, update } = yield* readOutcome(key, before, webhook)
    const applied = after === undefined ? [] : [{ ...after, tenant: key.tenant, type: eventOf[update.kind] }]
    yield* saveBatch(applied, [outcome])
    if (after !== undefined && isDrift(before?.issue, update.facts))
      yield* recordDrift(key.tenant, { site: webhook.site, before: before?.issue, after: after.issue })
    return outcome
  })

  /** Rolls back a failing webhook and saves only its error. An outage fails the whole issue instead. */
  const applyOrFail = (key: IssueKey, webhook: Waiting) =>
    sql.withTransaction(applyWebhook(key, webhook)).pipe(
      Effect.catchAllCause((cause) => {
        const error = Cause.squash(cause)
        if (isOutage(error) && !isStatementTimeout(error)) return Effect.failCause(cause)
        const outcome = failure(key, webhook, error)
        return Effect.as(saveBatch([], [outcome]), outcome)
      })
    )

  /**
   * Returns the result of each webhook. `isBusy`: another worker has locked the issue. `hasMore`: more webhooks are
   * pending.
   */
  return (key: IssueKey) =>
    Effect.gen(function* () {
      if ((yield* loader.hold([key])).length === 0) return { results: [], isBusy: true, hasMore: false }
      const { mayHaveMore, webhooks } = yield* loader.waiting([key])
      const outcomes = yield* Effect.forEach(webhooks, (webhook) => applyOrFail(key, webhook))
      return { results: resultsOf(outcomes), isBusy: false, hasMore: mayHaveMore(0) }
    }).pipe(atomically(sql), Effect.provideService(CurrentTenant, key.tenant))
}
