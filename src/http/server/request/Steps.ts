import { Effect, Either, Exit } from "effect"

/**
 * `Effect.flatMap` that goes on at once if the result of the step is known already, as that of `Effect.succeed` is. Most
 * requests then need a fiber only for their handler, and until there cost no more than calls of functions.
 */
export const andThen = <A, E, R, B, E2, R2>(
  step: Effect.Effect<A, E, R>,
  next: (value: A) => Effect.Effect<B, E2, R2>
): Effect.Effect<B, E | E2, R | R2> => {
  if (!Exit.isExit(step)) return Effect.flatMap(step, next)
  // An Exit that is an Effect<A, E> is an Exit<A, E>.
  const exit = step as Exit.Exit<A, E>
  return Exit.isSuccess(exit) ? next(exit.value) : Exit.failCause(exit.cause)
}

/** `Effect.either`, known at once if the step is an Either. */
export const toEither = <A, E>(step: Effect.Effect<A, E>): Effect.Effect<Either.Either<A, E>> =>
  Either.isEither(step)
    ? Effect.succeed(step as Either.Either<A, E>) // an Either that is an Effect<A, E>
    : Effect.either(step)

/** The work of a function; what it throws is a defect. */
export const attempt = <A, E, R>(run: () => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
  try {
    return run()
  } catch (defect) {
    return Effect.die(defect)
  }
}
