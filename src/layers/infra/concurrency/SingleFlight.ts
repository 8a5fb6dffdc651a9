import { Deferred, Effect, Fiber, FiberId } from "effect"

interface Flight<A, E> {
  readonly result: Deferred.Deferred<A, E>
  fiber: Fiber.RuntimeFiber<A, E> | undefined
  waiters: number
}

/**
 * Single-flight: concurrent calls with the same key share one run of the work. When the last waiter is interrupted, the
 * run is interrupted too.
 */
export const makeSingleFlight = <A, E>() => {
  const flights = new Map<string, Flight<A, E>>()

  const removeFlight = (key: string, flight: Flight<A, E>) => {
    if (flights.get(key) === flight) flights.delete(key)
  }

  const start = <R>(key: string, flight: Flight<A, E>, work: Effect.Effect<A, E, R>) => {
    const running = Effect.onExit(Effect.interruptible(work), (exit) =>
      Effect.suspend(() => {
        removeFlight(key, flight)
        return Deferred.done(flight.result, exit)
      })
    )
    return Effect.map(Effect.forkDaemon(running), (fiber) => {
      flight.fiber = fiber
      return flight
    })
  }

  /** Look-up and insertion are one synchronous step, since a fiber may yield between two effects. */
  const join = <R>(key: string, work: Effect.Effect<A, E, R>) =>
    Effect.suspend(() => {
      const existing = flights.get(key)
      if (existing !== undefined) {
        existing.waiters++
        return Effect.succeed(existing)
      }
      const flight: Flight<A, E> = { result: Deferred.unsafeMake(FiberId.none), fiber: undefined, waiters: 1 }
      flights.set(key, flight)
      return start(key, flight, work)
    })

  const leave = (key: string, flight: Flight<A, E>) =>
    Effect.suspend(() => {
      flight.waiters--
      if (flight.waiters > 0 || flight.fiber === undefined) return Effect.void
      removeFlight(key, flight)
      return Fiber.interruptFork(flight.fiber)
    })

  return <R>(key: string, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.acquireUseRelease(
      join(key, work),
      ({ result }) => Deferred.await(result),
      (flight) => leave(key, flight)
    )
}
