import { Effect, Either, Queue, Schema } from "effect"
import type { JsMsg } from "nats"
import { asking, Broker } from "../../layers/nats/Broker.ts"
import { type EventKey, FanOut } from "../../layers/sql/delivery/FanOut.ts"
import { forEver } from "../ForEver.ts"
import type { Bell } from "../Wakes.ts"

const mostAtOnce = 500
const fetchMillis = 2000
const againMillis = 500

const keyOf = Schema.decodeUnknownEither(
  Schema.parseJson(Schema.Struct({ tenant: Schema.NonEmptyString, id: Schema.NonEmptyString }))
)

interface Arrived {
  readonly key: EventKey
  readonly message: JsMsg
}

/** Fans events out as the broker brings them. */
export const fanOut = (bell: Bell) =>
  Effect.gen(function* () {
    const broker = yield* Broker
    const ledger = yield* FanOut
    const arrived = yield* Queue.unbounded<Arrived>()
    const { events } = broker.names

    const take = (message: JsMsg) =>
      Either.match(keyOf(message.string()), {
        onLeft: () => message.term(), // nothing of ours, and no better the next time
        onRight: (key) => void arrived.unsafeOffer({ key, message })
      })

    /** Asks for more for a little while. Asking anew each time gets over whatever became of the broker meanwhile. */
    const fetch = Effect.flatMap(broker.jetstream, (jetstream) =>
      asking(async () => {
        const consumer = await jetstream.consumers.get(events.stream, events.fanOut)
        const messages = await consumer.fetch({ max_messages: mostAtOnce, expires: fetchMillis })
        for await (const message of messages) take(message)
      })
    )

    const settle = (batch: ReadonlyArray<Arrived>, done: ReadonlySet<string>) => {
      for (const { key, message } of batch) {
        if (done.has(key.id)) message.ack()
        else message.nak(againMillis)
      }
    }

    const work = Effect.gen(function* () {
      const batch = [...(yield* Queue.takeBetween(arrived, 1, mostAtOnce))]
      const { done, entered } = yield* Effect.tapErrorCause(ledger.fanOut(batch.map(({ key }) => key)), () =>
        Effect.sync(() => settle(batch, new Set()))
      )
      settle(batch, done)
      if (entered) bell.ring()
    })

    yield* Effect.forkScoped(forEver("Fanning events out", work))
    yield* Effect.forkScoped(forEver("Asking the broker for events", fetch))
  })
