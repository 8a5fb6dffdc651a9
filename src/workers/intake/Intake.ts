import { Effect, Either, Layer, Queue, Schema } from "effect"
import type { JsMsg } from "nats"
import { asking, Broker } from "../../layers/nats/Broker.ts"
import { InboundStream } from "../../layers/nats/InboundStream.ts"
import { Intake } from "../../layers/sql/tracker/Intake.ts"
import { IntakeMetrics } from "../../layers/telemetry/IntakeMetrics.ts"
import { forEver } from "../ForEver.ts"
import { makeWorking, type Working } from "./Working.ts"

const mostFetched = 200
const fetchMillis = 1000
const againMillis = 500
/** Many in one transaction cost little more than one, and whoever passes their events on is woken once. */
const gatherMillis = 50
const mostPolled = 200
const pollMillis = 1000

const keyOf = Schema.decodeUnknownEither(
  Schema.parseJson(Schema.Struct({ tenant: Schema.NonEmptyString, id: Schema.NonEmptyString }))
)

interface Arrived {
  readonly tenant: string
  readonly id: string
  readonly message: JsMsg
}

/** Works webhooks as the broker brings them. */
const consume = (working: Working) =>
  Effect.gen(function* () {
    const broker = yield* Broker
    const stream = yield* InboundStream
    const intake = yield* Intake
    const arrived = yield* Queue.unbounded<Arrived>()
    const { inbound } = broker.names

    const take = (message: JsMsg) =>
      Either.match(keyOf(message.string()), {
        onLeft: () => message.term(), // nothing of ours, and no better the next time
        onRight: (key) => void arrived.unsafeOffer({ ...key, message })
      })

    const fetch = Effect.flatMap(broker.jetstream, (jetstream) =>
      asking(async () => {
        const consumer = await jetstream.consumers.get(inbound.stream, inbound.intake)
        const messages = await consumer.fetch({ max_messages: mostFetched, expires: fetchMillis })
        for await (const message of messages) take(message)
      })
    ).pipe(
      Effect.catchIf(
        (error) => error.isStreamMissing || error.is("consumerNotFound"),
        () => stream.declare
      )
    )

    const settle = (batch: ReadonlyArray<Arrived>, isLeft: (id: string) => boolean) => {
      for (const { id, message } of batch) {
        if (isLeft(id)) message.nak(againMillis)
        else message.ack()
      }
    }

    /** What waits no more, or not for now, needs no message: who is paused is found again in the database. */
    const work = Effect.gen(function* () {
      const first = yield* Queue.take(arrived)
      yield* Effect.sleep(gatherMillis)
      const batch = [first, ...(yield* Queue.takeUpTo(arrived, mostFetched - 1))]
      const found = yield* Effect.tapErrorCause(intake.issuesOf(batch.map(({ id, tenant }) => ({ id, tenant }))), () =>
        Effect.sync(() => settle(batch, () => true))
      )
      const { isFinished } = yield* working(found)
      const left = new Set(found.filter((key) => !isFinished(key)).map(({ id }) => id))
      settle(batch, (id) => left.has(id))
    })

    yield* Effect.forkScoped(forEver("Working webhooks", work))
    yield* Effect.forkScoped(forEver("Asking the broker for webhooks", fetch))
  })

/** Works what the broker did not bring: it was lost, it failed before, or its integration was paused. */
const poll = (working: Working) =>
  Effect.map(Intake, (intake) =>
    Effect.gen(function* () {
      const found = yield* intake.forgotten(mostPolled)
      const { isAnyLeft } = yield* working(found)
      if (found.length < mostPolled && !isAnyLeft) yield* Effect.sleep(pollMillis)
    })
  )

export const IntakeLive = Layer.scopedDiscard(
  Effect.gen(function* () {
    const working = yield* makeWorking
    yield* consume(working)
    yield* Effect.forkScoped(forEver("Looking for webhooks that wait", yield* poll(working)))
  })
).pipe(Layer.provide([Intake.Default, InboundStream.Default, IntakeMetrics.Default]), Layer.provide(Broker.Default))
