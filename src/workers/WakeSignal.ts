import { Effect, Queue, Schedule } from "effect"
import { Broker } from "../layers/infra/nats/Broker.ts"

/**
 * A coalescing wake-up signal: `wait` returns on the next call or after a timeout. Calls without a waiter count as one.
 */
export const makeWakeSignal = Effect.map(Queue.sliding<void>(1), (calls) => ({
  notify: () => void calls.unsafeOffer(undefined),
  wait: (timeoutMs: number) => Effect.asVoid(Effect.timeoutOption(Queue.take(calls), timeoutMs))
}))

export type WakeSignal = Effect.Effect.Success<typeof makeWakeSignal>

/**
 * Forwards the broker's wake messages, which announce new outbox rows. While the broker is down, callers fall back to
 * polling.
 */
export const notifyOnWake = ({ notify }: WakeSignal) =>
  Effect.flatMap(Broker, ({ connection, names }) =>
    connection.pipe(
      Effect.retry(Schedule.spaced("200 millis")),
      Effect.flatMap((connection) =>
        Effect.acquireRelease(
          Effect.sync(() => connection.subscribe(names.wake, { callback: notify })),
          (subscription) => Effect.sync(() => subscription.unsubscribe())
        )
      ),
      Effect.zipRight(Effect.never),
      Effect.scoped,
      Effect.forkScoped
    )
  )
