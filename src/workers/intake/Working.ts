import { Effect } from "effect"
import { Broker } from "../../layers/nats/Broker.ts"
import { Intake, type IssueKey } from "../../layers/sql/tracker/Intake.ts"
import { IntakeMetrics } from "../../layers/telemetry/IntakeMetrics.ts"

/** So many issues at once in one process; each takes a connection to the database. */
const mostAtOnce = 6

const nameOf = ({ integration, issue, tenant }: IssueKey) => JSON.stringify([tenant, integration, issue])

/** Works off what waits for issues, each once, and tells which are not finished. */
export const makeWorking = Effect.gen(function* () {
  const intake = yield* Intake
  const metrics = yield* IntakeMetrics
  const { wake } = yield* Broker

  const work = (key: IssueKey) =>
    intake.workOff(key).pipe(
      Effect.map(({ isMore, results }) => {
        for (const result of results) metrics.worked(result)
        return isMore
      }),
      Effect.catchAllCause((cause) =>
        Effect.as(Effect.logWarning(`The webhooks of issue ${key.issue} could not be worked`, cause), true)
      )
    )

  return Effect.fnUntraced(function* (keys: ReadonlyArray<IssueKey>) {
    const issues = new Map(keys.map((key) => [nameOf(key), key]))
    const results = yield* Effect.forEach(issues, ([name, key]) => Effect.map(work(key), (more) => ({ name, more })), {
      concurrency: mostAtOnce
    })
    if (results.length > 0) yield* wake
    const unfinished = new Set(results.flatMap(({ more, name }) => (more ? [name] : [])))
    return (key: IssueKey) => !unfinished.has(nameOf(key))
  })
})

export type Working = Effect.Effect.Success<typeof makeWorking>
