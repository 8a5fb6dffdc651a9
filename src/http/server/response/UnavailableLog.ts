import { Effect, FiberRef, HashMap } from "effect"
import { type ApiError, Unavailable } from "../../../domain/Errors.ts"

const logLine = (reason: string, requests: number) =>
  Effect.logWarning(`Unavailable: ${reason}`).pipe(Effect.annotateLogs("requests", requests))

/** Logs why requests get a 503: the first one for each reason at once, and then a line a second that counts the others. */
export const makeUnavailableLog = () => {
  /** The requests since the last line of each reason, while its lines are a second apart. */
  const counts = new Map<string, number>()

  /** Returns whether there were others since the line before. */
  const logOthers = (reason: string) =>
    Effect.suspend(() => {
      const requests = counts.get(reason) ?? 0
      if (requests === 0) {
        counts.delete(reason)
        return Effect.succeed(false)
      }
      counts.set(reason, 0)
      return Effect.as(logLine(reason, requests), true)
    }).pipe(
      Effect.delay("1 second"),
      Effect.repeat({ while: (hadOthers) => hadOthers }),
      // Those of the first request.
      Effect.locally(FiberRef.currentLogAnnotations, HashMap.empty())
    )

  return (error: ApiError) =>
    Effect.suspend((): Effect.Effect<unknown> => {
      if (!(error instanceof Unavailable)) return Effect.void
      const { reason } = error
      const count = counts.get(reason)
      counts.set(reason, count === undefined ? 0 : count + 1)
      return count === undefined
        ? Effect.zipRight(logLine(reason, 1), Effect.forkDaemon(logOthers(reason)))
        : Effect.void
    })
}
