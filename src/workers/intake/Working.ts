import { Array as Chunks, Effect } from "effect"
import { Broker } from "../../layers/nats/Broker.ts"
import { IntakeMetrics } from "../../layers/telemetry/IntakeMetrics.ts"
import { Intake } from "../../layers/tracker/Intake.ts"
import { type IssueKey, nameOf } from "../../layers/tracker/intake/IssueKey.ts"

/** The maximum of issues in one transaction, and of transactions at a time in one process. */
const maxTogether = 50
const maxTransactions = 3

const namesOf = (keys: ReadonlyArray<IssueKey>) => new Set(keys.map(nameOf))

/** Works off what waits for issues, each once, and tells for which more is left and which are not finished. */
export const makeWorking = Effect.gen(function* () {
  const intake = yield* Intake
  const metrics = yield* IntakeMetrics
  const { wake } = yield* Broker
  const oneOfFew = (yield* Effect.makeSemaphore(maxTransactions)).withPermits(1)

  const work = (keys: ReadonlyArray<IssueKey>) =>
    Effect.catchAllCause(intake.workOff(keys), (cause) =>
      Effect.as(Effect.logWarning(`The webhooks of ${keys.length} issues could not be worked`, cause), {
        results: [],
        left: [],
        busy: keys
      })
    )

  return Effect.fnUntraced(function* (keys: ReadonlyArray<IssueKey>) {
    const issues = [...new Map(keys.map((key) => [nameOf(key), key])).values()]
    const rests = yield* Effect.forEach(Chunks.chunksOf(issues, maxTogether), (keys) => oneOfFew(work(keys)), {
      concurrency: "unbounded"
    })
    if (rests.length > 0) yield* wake
    for (const { results } of rests) results.forEach(metrics.worked)
    const left = rests.flatMap((rest) => rest.left)
    const unfinished = namesOf([...left, ...rests.flatMap(({ busy }) => busy)])
    return { isAnyLeft: left.length > 0, isFinished: (key: IssueKey) => !unfinished.has(nameOf(key)) }
  })
})

export type Working = Effect.Effect.Success<typeof makeWorking>
