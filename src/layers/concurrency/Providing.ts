import { Context, Effect, type Fiber, FiberRef } from "effect"

interface Setting {
  readonly setFiberRef: <A>(ref: FiberRef.FiberRef<A>, value: A) => void
}

// Cast because the types of a fiber leave its `setFiberRef` out, which `FiberRef.set` calls in three steps of its own.
const setContext = (fiber: Fiber.RuntimeFiber<unknown, unknown>, context: Context.Context<never>) =>
  (fiber as unknown as Setting).setFiberRef(FiberRef.currentContext, context)

/**
 * Provides work with more context in a quarter of the steps `Effect.provide` takes, which shows where every request
 * passes. Whoever interrupts the work has finalizers run that still see what was provided.
 */
export const providing = <A, E, R, S>(
  work: Effect.Effect<A, E, R>,
  more: Context.Context<S>
): Effect.Effect<A, E, Exclude<R, S>> =>
  Effect.withFiberRuntime((fiber) => {
    const outer = fiber.currentContext
    setContext(fiber, Context.merge(outer, more))
    const within = Effect.matchCauseEffect(work, {
      onSuccess: (value) => {
        setContext(fiber, outer)
        return Effect.succeed(value)
      },
      onFailure: (cause) => {
        setContext(fiber, outer)
        return Effect.failCause(cause)
      }
    })
    return within as Effect.Effect<A, E, Exclude<R, S>> // what it needs of `more` is there by now
  })
