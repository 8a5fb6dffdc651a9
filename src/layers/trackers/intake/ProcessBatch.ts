import type * as SqlClient from "@effect/sql/SqlClient"
import { Effect, Either } from "effect"
import { jiraReferenceType } from "../../../domain/trackers/IssueBilling.ts"
import { issueEventTypes, type ProcessingResult } from "../../../domain/trackers/IssueUpdate.ts"
import { commitWith, inTransaction } from "../../infra/postgres/connection/Transactions.ts"
import { isCreatedFromIssue } from "../../invoicing/BillingPredicates.ts"
import type { BatchLoader, KnownIssue, PendingWebhook } from "./BatchLoader.ts"
import { evaluateWebhook, failedOutcome, type InboundOutcome, toProcessingResults } from "./InboundOutcome.ts"
import type { IssueRef } from "./IssueRef.ts"
import type { AppliedChange, SaveBatch } from "./SaveBatch.ts"

/** The results of the webhooks of a batch, and the issues that are not finished. */
export interface BatchResult {
  readonly results: ReadonlyArray<ProcessingResult>
  /** Issues with more pending webhooks. */
  readonly left: ReadonlyArray<IssueRef>
  /** Issues that another worker has locked. */
  readonly busy: ReadonlyArray<IssueRef>
  /** Issues with billables. They are processed one by one, because a change also records events for the billables. */
  readonly billed: ReadonlyArray<IssueRef>
}

interface BilledCandidate {
  readonly place: number
  readonly tenant: string
  readonly id: string
  readonly key: string
}

/** Applies the webhooks of one issue in order. */
const applyWebhooks = Effect.fnUntraced(function* (
  key: IssueRef,
  known: KnownIssue | undefined,
  webhooks: ReadonlyArray<PendingWebhook>
) {
  const applied: Array<AppliedChange> = []
  const outcomes: Array<InboundOutcome> = []
  let before = known
  for (const webhook of webhooks) {
    const evaluated = yield* Effect.either(evaluateWebhook(key, before, webhook))
    if (Either.isLeft(evaluated)) {
      outcomes.push(failedOutcome(key, webhook, evaluated.left))
      continue
    }
    const { after, outcome, update } = evaluated.right
    outcomes.push(outcome)
    if (after === undefined) continue
    applied.push({ ...after, tenant: key.tenant, type: issueEventTypes[update.kind] })
    before = after
  }
  return { applied, outcomes }
})

/** Processes many issues in one transaction with few statements. Any failure rolls back the whole batch. */
export const makeProcessBatch = (sql: SqlClient.SqlClient, loader: BatchLoader, saveBatch: SaveBatch) => {
  const findBilled = (candidates: ReadonlyArray<BilledCandidate>) =>
    Effect.map(
      sql<{ place: number }>`
        with given as materialized (
          select * from json_to_recordset(${JSON.stringify(candidates)}::json) as given
            (place integer, tenant text, id text, key text)
        )
        select given.place from given
        join billables b on b.tenant_id = given.tenant and not b.released and b.reference_type = ${jiraReferenceType}
          and b.reference_id = given.key
        union
        select given.place from given
        join billables b on b.tenant_id = given.tenant and not b.released and ${isCreatedFromIssue(sql, sql.literal("given.id"))}`,
      (rows) => new Set(rows.map(({ place }) => place))
    )

  const processLocked = Effect.fnUntraced(function* (keys: ReadonlyArray<IssueRef>) {
    const { mayHaveMore, webhooks } = yield* loader.loadPending(keys)
    if (webhooks.length === 0) return { results: [], left: [], billed: [] }
    const before = yield* loader.loadKnownIssues(keys)
    const evaluated = yield* Effect.forEach(keys, (key, place) => {
      const own = webhooks.filter((webhook) => webhook.place === place)
      return Effect.map(applyWebhooks(key, before.get(place), own), (applied) => ({ ...applied, key, place }))
    })
    const billed = yield* findBilled(
      evaluated.flatMap(({ applied, key: { tenant }, place }) =>
        [before.get(place)?.issue, ...applied.map(({ issue }) => issue)].flatMap((issue) =>
          issue === undefined ? [] : [{ place, tenant, id: issue.id, key: issue.issueKey }]
        )
      )
    )
    const unbilled = evaluated.filter(({ place }) => !billed.has(place))
    const outcomes = unbilled.flatMap(({ outcomes }) => outcomes)
    const statement = saveBatch(
      unbilled.flatMap(({ applied }) => applied),
      outcomes
    )
    yield* commitWith(statement)
    return {
      results: toProcessingResults(outcomes),
      left: unbilled.filter(({ place }) => mayHaveMore(place)).map(({ key }) => key),
      billed: evaluated.filter(({ place }) => billed.has(place)).map(({ key }) => key)
    }
  })

  return (keys: ReadonlyArray<IssueRef>) =>
    Effect.gen(function* () {
      const locked = yield* loader.lockIssues(keys)
      const busy = keys.filter((key) => !locked.includes(key))
      const done = locked.length === 0 ? { results: [], billed: [], left: [] } : yield* processLocked(locked)
      return { ...done, busy } satisfies BatchResult
    }).pipe(inTransaction(sql))
}
