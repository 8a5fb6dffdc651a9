import { Effect, Exit } from "effect"

/**
 * Coalesces concurrent calls with the same key. A call that arrives while another one runs joins the next run instead, so
 * that no result is older than its call. A burst of calls takes two runs.
 */
export const makeCoalescer = <A, E>() => {
  type Resume = (result: Effect.Effect<A, E>) => void
  /** Calls that wait for the next run, per key with a run in progress. */
  const waiting = new Map<string, Resume[]>()

  /** Runs the work, resumes the calls that joined it, and lets the first waiting call run it for all others. */
  const run = (key: string, work: Effect.Effect<A, E>, joined: ReadonlyArray<Resume>): Effect.Effect<A, E> => {
    const settle = (exit: Exit.Exit<A, E>) => {
      for (const resume of joined) resume(exit)
      const [next, ...others] = waiting.get(key) ?? []
      if (next === undefined) waiting.delete(key)
      else {
        waiting.set(key, [])
        next(run(key, work, others))
      }
      return exit
    }
    return Effect.matchCauseEffect(work, {
      onSuccess: (value) => settle(Exit.succeed(value)),
      onFailure: (cause) => settle(Exit.failCause(cause))
    })
  }

  /**
   * Uninterruptible: other calls wait for the run of this one. The look-up and the entry are one step, because a fiber may
   * yield between two.
   */
  return (key: string, work: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.uninterruptible(
      Effect.async((resume) => {
        const queue = waiting.get(key)
        if (queue !== undefined) queue.push(resume)
        else {
          waiting.set(key, [])
          resume(run(key, work, []))
        }
      })
    )
}
