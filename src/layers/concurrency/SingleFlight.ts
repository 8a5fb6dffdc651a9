import { Deferred, Effect, Fiber, FiberId } from "effect"

interface Flight<A, E> {
  readonly result: Deferred.Deferred<A, E>
  fiber: Fiber.RuntimeFiber<A, E> | undefined
  waiters: number
}

/**
 * Shares one run of some work among all who ask for it under the same key meanwhile. The run goes on while anybody waits
 * for it and is interrupted when the last waiter leaves.
 */
export const makeSingleFlight = <A, E>() => {
  const flights = new Map<string, Flight<A, E>>()

  const land = (key: string, flight: Flight<A, E>) => {
    if (flights.get(key) === flight) flights.delete(key)
  }

  const start = <R>(key: string, flight: Flight<A, E>, work: Effect.Effect<A, E, R>) => {
    const running = Effect.onExit(Effect.interruptible(work), (exit) =>
      Effect.suspend(() => {
        land(key, flight)
        return Deferred.done(flight.result, exit)
      })
    )
    return Effect.map(Effect.forkDaemon(running), (fiber) => {
      flight.fiber = fiber
      return flight
    })
  }

  /** The look-up and the entry are one step: a fiber may have to let others go first between two. */
  const join = <R>(key: string, work: Effect.Effect<A, E, R>) =>
    Effect.suspend(() => {
      const flying = flights.get(key)
      if (flying !== undefined) {
        flying.waiters++
        return Effect.succeed(flying)
      }
      const flight: Flight<A, E> = { result: Deferred.unsafeMake(FiberId.none), fiber: undefined, waiters: 1 }
      flights.set(key, flight)
      return start(key, flight, work)
    })

  const leave = (key: string, flight: Flight<A, E>) =>
    Effect.suspend(() => {
      flight.waiters--
      if (flight.waiters > 0 || flight.fiber === undefined) return Effect.void
      land(key, flight)
      return Fiber.interruptFork(flight.fiber)
    })

  return <R>(key: string, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.acquireUseRelease(
      join(key, work),
      ({ result }) => Deferred.await(result),
      (flight) => leave(key, flight)
    )
}
