import { Effect, Exit } from "effect"

/**
 * Lets those share an answer who ask the same at the same time. Whoever asks while an answer is on its way waits for the
 * next one: no answer is older than its question, and a crowd asks twice instead of once each.
 */
export const sharingAnswers = <A, E>() => {
  type Share = (answer: Effect.Effect<A, E>) => void
  /** Who waits for the next answer, for each question that has one on its way. */
  const waiting = new Map<string, Share[]>()

  /** Asks, shares what comes of it, and sends the first of those who came meanwhile to ask for all of them. */
  const askFor = (question: string, ask: Effect.Effect<A, E>, sharing: ReadonlyArray<Share>): Effect.Effect<A, E> => {
    const tell = (answer: Exit.Exit<A, E>) => {
      for (const share of sharing) share(answer)
      const [next, ...others] = waiting.get(question) ?? []
      if (next === undefined) waiting.delete(question)
      else {
        waiting.set(question, [])
        next(askFor(question, ask, others))
      }
      return answer
    }
    return Effect.matchCauseEffect(ask, {
      onSuccess: (value) => tell(Exit.succeed(value)),
      onFailure: (cause) => tell(Exit.failCause(cause))
    })
  }

  /**
   * Not to be interrupted: others wait for what one of them does. Looked up and entered in one step, since a fiber may
   * have to let others go first between two.
   */
  return (question: string, ask: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.uninterruptible(
      Effect.async((resume) => {
        const line = waiting.get(question)
        if (line !== undefined) line.push(resume)
        else {
          waiting.set(question, [])
          resume(askFor(question, ask, []))
        }
      })
    )
}
