import type * as SqlClient from "@effect/sql/SqlClient"
import { Effect, Either } from "effect"
import { eventOf, type WorkResult } from "../../../domain/tracker/Intake.ts"
import { issueReference } from "../../../domain/tracker/IssueBilling.ts"
import { wasMadeOf } from "../../invoicing/MayBill.ts"
import { atomically } from "../../postgres/connection/Transaction.ts"
import { finishing } from "../../postgres/connection/Transactions.ts"
import type { IssueKey } from "./IssueKey.ts"
import { failure, type Outcome, readOutcome, resultsOf } from "./Outcome.ts"
import type { KnownIssue, Taking, Waiting } from "./Taking.ts"
import type { Applied, Writing } from "./Writing.ts"

/** The results of the webhooks of a batch, and the issues that are not finished. */
export interface Rest {
  readonly results: ReadonlyArray<WorkResult>
  /** Issues with more pending webhooks. */
  readonly left: ReadonlyArray<IssueKey>
  /** Issues that another worker has locked. */
  readonly busy: ReadonlyArray<IssueKey>
  /** Issues with billables. They are processed one by one, because a change also records events for the billables. */
  readonly billed: ReadonlyArray<IssueKey>
}

interface BilledCandidate {
  readonly place: number
  readonly tenant: string
  readonly id: string
  readonly key: string
}

/** Applies the webhooks of one issue in order. */
const applyWebhooks = Effect.fnUntraced(function* (
  key: IssueKey,
  known: KnownIssue | undefined,
  webhooks: ReadonlyArray<Waiting>
) {
  const applied: Array<Applied> = []
  const outcomes: Array<Outcome> = []
  let before = known
  for (const webhook of webhooks) {
    const evaluated = yield* Effect.either(readOutcome(key, before, webhook))
    if (Either.isLeft(evaluated)) {
      outcomes.push(failure(key, webhook, evaluated.left))
      continue
    }
    const { after, outcome, update } = evaluated.right
    outcomes.push(outcome)
    if (after === undefined) continue
    applied.push({ ...after, tenant: key.tenant, type: eventOf[update.kind] })
    before = after
  }
  return { applied, outcomes }
})

/** Processes many issues in one transaction with few statements. Any failure rolls back the whole batch. */
export const makeTogether = (sql: SqlClient.SqlClient, loader: Taking, saveBatch: Writing) => {
  const findBilled = (candidates: ReadonlyArray<BilledCandidate>) =>
    Effect.map(
      sql<{ place: number }>`
        with given as materialized (
          select * from json_to_recordset(${JSON.stringify(candidates)}::json) as given
            (place integer, tenant text, id text, key text)
        )
        select given.place from given
        join billables b on b.tenant_id = given.tenant and not b.released and b.reference_type = ${issueReference}
          and b.reference_id = given.key
        union
        select given.place from given
        join billables b on b.tenant_id = given.tenant and not b.released and ${wasMadeOf(sql, sql.literal("given.id"))}`,
      (rows) => new Set(rows.map(({ place }) => place))
    )

  const processLocked = Effect.fnUntraced(function* (keys: ReadonlyArray<IssueKey>) {
    const { mayHaveMore, webhooks } = yield* loader.waiting(keys)
    if (webhooks.length === 0) return { results: [], left: [], billed: [] }
    const before = yield* loader.known(keys)
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
    yield* finishing(statement)
    return {
      results: resultsOf(outcomes),
      left: unbilled.filter(({ place }) => mayHaveMore(place)).map(({ key }) => key),
      billed: evaluated.filter(({ place }) => billed.has(place)).map(({ key }) => key)
    }
  })

  return (keys: ReadonlyArray<IssueKey>) =>
    Effect.gen(function* () {
      const locked = yield* loader.hold(keys)
      const busy = keys.filter((key) => !locked.includes(key))
      const done = locked.length === 0 ? { results: [], billed: [], left: [] } : yield* processLocked(locked)
      return { ...done, busy } satisfies Rest
    }).pipe(atomically(sql))
}
