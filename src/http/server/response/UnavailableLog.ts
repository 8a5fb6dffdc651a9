import { Effect } from "effect"
import { type ApiError, Unavailable } from "../../../domain/Errors.ts"

/** A full queue rejects many requests. One line tells of all that came since the line before. */
const intervalMs = 1000

/** Logs why requests get a 503: the first one for each reason at once, and then one line a second at most. */
export const makeUnavailableLog = () => {
  const reasons = new Map<string, { readonly loggedAt: number; requests: number }>()

  return (error: ApiError) =>
    Effect.suspend(() => {
      if (!(error instanceof Unavailable)) return Effect.void
      const now = performance.now()
      const last = reasons.get(error.reason)
      const requests = (last?.requests ?? 0) + 1
      if (last !== undefined && now - last.loggedAt < intervalMs) {
        last.requests = requests
        return Effect.void
      }
      reasons.set(error.reason, { loggedAt: now, requests: 0 })
      return Effect.logWarning(`Unavailable: ${error.reason}`).pipe(Effect.annotateLogs("requests", requests))
    })
}
