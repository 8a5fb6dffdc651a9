import { Effect, Queue, Schedule } from "effect"
import { Broker } from "../layers/nats/Broker.ts"

/** Something to wait for: called, or until a time is up. Calls while nobody waits count as one. */
export const makeBell = Effect.map(Queue.sliding<void>(1), (calls) => ({
  ring: () => void calls.unsafeOffer(undefined),
  wait: (atMost: number) => Effect.asVoid(Effect.timeoutOption(Queue.take(calls), atMost))
}))

export type Bell = Effect.Effect.Success<typeof makeBell>

/** Rings when somebody says that there is something new in the outbox, as long as the broker can be reached. */
export const ringOnWake = ({ ring }: Bell) =>
  Effect.flatMap(Broker, ({ connection, names }) =>
    connection.pipe(
      Effect.retry(Schedule.spaced("200 millis")),
      Effect.flatMap((connection) =>
        Effect.acquireRelease(
          Effect.sync(() => connection.subscribe(names.wake, { callback: ring })),
          (subscription) => Effect.sync(() => subscription.unsubscribe())
        )
      ),
      Effect.zipRight(Effect.never),
      Effect.scoped,
      Effect.forkScoped
    )
  )
