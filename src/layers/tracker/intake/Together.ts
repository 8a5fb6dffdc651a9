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

/** What came of webhooks that were worked together, and what is left of their issues. */
export interface Rest {
  readonly results: ReadonlyArray<WorkResult>
  /** More waits for them. */
  readonly left: ReadonlyArray<IssueKey>
  /** In the hands of another worker. */
  readonly busy: ReadonlyArray<IssueKey>
  /** Lines bill them: whoever works them has to tell of those as well. */
  readonly billed: ReadonlyArray<IssueKey>
}

interface Keyed {
  readonly place: number
  readonly tenant: string
  readonly id: string
  readonly key: string
}

/** Follows one issue through its webhooks. */
const follow = Effect.fnUntraced(function* (
  key: IssueKey,
  known: KnownIssue | undefined,
  webhooks: ReadonlyArray<Waiting>
) {
  const applied: Array<Applied> = []
  const outcomes: Array<Outcome> = []
  let before = known
  for (const webhook of webhooks) {
    const read = yield* Effect.either(readOutcome(key, before, webhook))
    if (Either.isLeft(read)) {
      outcomes.push(failure(key, webhook, read.left))
      continue
    }
    const { after, outcome, told } = read.right
    outcomes.push(outcome)
    if (after === undefined) continue
    applied.push({ ...after, tenant: key.tenant, type: eventOf[told.kind] })
    before = after
  }
  return { applied, outcomes }
})

/** Works many issues in one transaction and few statements. If anything fails, nothing of it is done. */
export const makeTogether = (sql: SqlClient.SqlClient, { hold, known, waiting }: Taking, write: Writing) => {
  const billedAmong = (keys: ReadonlyArray<Keyed>) =>
    Effect.map(
      sql<{ place: number }>`
        with given as materialized (
          select * from json_to_recordset(${JSON.stringify(keys)}::json) as given
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

  const work = Effect.fnUntraced(function* (keys: ReadonlyArray<IssueKey>) {
    const { mayHaveMore, webhooks } = yield* waiting(keys)
    if (webhooks.length === 0) return { results: [], left: [], billed: [] }
    const before = yield* known(keys)
    const followed = yield* Effect.forEach(keys, (key, place) => {
      const own = webhooks.filter((webhook) => webhook.place === place)
      return Effect.map(follow(key, before.get(place), own), (found) => ({ ...found, key, place }))
    })
    const billed = yield* billedAmong(
      followed.flatMap(({ applied, key: { tenant }, place }) =>
        [before.get(place)?.issue, ...applied.map(({ issue }) => issue)].flatMap((issue) =>
          issue === undefined ? [] : [{ place, tenant, id: issue.id, key: issue.issueKey }]
        )
      )
    )
    const free = followed.filter(({ place }) => !billed.has(place))
    const outcomes = free.flatMap((one) => one.outcomes)
    const writing = write(
      free.flatMap(({ applied }) => applied),
      outcomes
    )
    yield* finishing(writing)
    return {
      results: resultsOf(outcomes),
      left: free.filter(({ place }) => mayHaveMore(place)).map(({ key }) => key),
      billed: followed.filter(({ place }) => billed.has(place)).map(({ key }) => key)
    }
  })

  return (keys: ReadonlyArray<IssueKey>) =>
    Effect.gen(function* () {
      const held = yield* hold(keys)
      const busy = keys.filter((key) => !held.includes(key))
      const done = held.length === 0 ? { results: [], billed: [], left: [] } : yield* work(held)
      return { ...done, busy } satisfies Rest
    }).pipe(atomically(sql))
}
