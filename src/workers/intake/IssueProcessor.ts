import { Array as Chunks, Effect } from "effect"
import { Broker } from "../../layers/infra/nats/Broker.ts"
import { InboundProcessor } from "../../layers/trackers/InboundProcessor.ts"
import { IntakeMetrics } from "../../layers/trackers/IntakeMetrics.ts"
import { type IssueRef, issueRefKey } from "../../layers/trackers/intake/IssueRef.ts"

/** Issues in one transaction, and concurrent transactions of one process. */
const maxBatchSize = 50
const maxTransactions = 3

const namesOf = (keys: ReadonlyArray<IssueRef>) => new Set(keys.map(issueRefKey))

/** Processes the pending webhooks of issues in batches. The result has their number and the issues that are finished. */
export const makeIssueProcessor = Effect.gen(function* () {
  const intake = yield* InboundProcessor
  const metrics = yield* IntakeMetrics
  const { wake } = yield* Broker
  const withTransactionPermit = (yield* Effect.makeSemaphore(maxTransactions)).withPermits(1)

  const processBatch = (keys: ReadonlyArray<IssueRef>) =>
    Effect.catchAllCause(intake.processIssues(keys), (cause) =>
      Effect.as(Effect.logWarning(`Processing the webhooks of ${keys.length} issues failed`, cause), {
        results: [],
        left: [],
        busy: keys
      })
    )

  return Effect.fnUntraced(function* (keys: ReadonlyArray<IssueRef>) {
    const issues = [...new Map(keys.map((key) => [issueRefKey(key), key])).values()]
    const results = yield* Effect.forEach(
      Chunks.chunksOf(issues, maxBatchSize),
      (keys) => withTransactionPermit(processBatch(keys)),
      {
        concurrency: "unbounded"
      }
    )
    if (results.length > 0) wake()
    const processed = results.flatMap((result) => result.results)
    processed.forEach(metrics.countProcessed)
    const unfinished = namesOf(results.flatMap(({ busy, left }) => [...left, ...busy]))
    return { processedCount: processed.length, isFinished: (key: IssueRef) => !unfinished.has(issueRefKey(key)) }
  })
})

export type IssueProcessor = Effect.Effect.Success<typeof makeIssueProcessor>
