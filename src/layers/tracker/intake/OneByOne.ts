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

/** Works one issue, each webhook with all of its effects by itself, so that one that cannot be worked stops no other. */
export const makeOneByOne = (sql: SqlClient.SqlClient, { hold, known, waiting }: Taking, write: Writing) => {
  const drift = makeDrift(sql)

  /** Does what one webhook asks for. */
  const work = Effect.fnUntraced(function* (key: IssueKey, webhook: Waiting) {
    const before = (yield* known([key])).get(0)
    const { after, outcome, told } = yield* readOutcome(key, before, webhook)
    const applied = after === undefined ? [] : [{ ...after, tenant: key.tenant, type: eventOf[told.kind] }]
    yield* write(applied, [outcome])
    if (after !== undefined && isDrift(before?.issue, told.facts))
      yield* drift(key.tenant, { site: webhook.site, before: before?.issue, after: after.issue })
    return outcome
  })

  /** One that cannot be worked leaves no traces but the reason why. */
  const workOrFail = (key: IssueKey, webhook: Waiting) =>
    sql.withTransaction(work(key, webhook)).pipe(
      Effect.catchAllCause((cause) => {
        const error = Cause.squash(cause)
        if (isOutage(error) && !isStatementTimeout(error)) return Effect.failCause(cause)
        const outcome = failure(key, webhook, error)
        return Effect.as(write([], [outcome]), outcome)
      })
    )

  /** Tells what came of each webhook, and whether there is more: left over, or in the hands of another worker. */
  return (key: IssueKey) =>
    Effect.gen(function* () {
      if ((yield* hold([key])).length === 0) return { results: [], isBusy: true, isLeft: false }
      const { mayHaveMore, webhooks } = yield* waiting([key])
      const outcomes = yield* Effect.forEach(webhooks, (webhook) => workOrFail(key, webhook))
      return { results: resultsOf(outcomes), isBusy: false, isLeft: mayHaveMore(0) }
    }).pipe(atomically(sql), Effect.provideService(CurrentTenant, key.tenant))
}
