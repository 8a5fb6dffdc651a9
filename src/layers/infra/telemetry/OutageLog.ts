import { Effect } from "effect"

/** Logs an outage once for each reason, not for every attempt, and its end. */
export const makeOutageLog = (begun: string, ended: string) => {
  let logged: string | undefined
  return {
    isOpen: () => logged !== undefined,

    onFailure: (error: Error) =>
      Effect.suspend(() => {
        if (error.message === logged) return Effect.void
        logged = error.message
        return Effect.logWarning(begun, error)
      }),

    onSuccess: Effect.suspend(() => {
      if (logged === undefined) return Effect.void
      logged = undefined
      return Effect.logInfo(ended)
    })
  }
}
