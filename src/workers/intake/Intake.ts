import { Effect, Either, FiberSet, Layer } from "effect"
import type { JsMsg } from "nats"
import { asking, Broker } from "../../layers/nats/Broker.ts"
import { InboundStream } from "../../layers/nats/InboundStream.ts"
import { IntakeMetrics } from "../../layers/telemetry/IntakeMetrics.ts"
import { Intake } from "../../layers/tracker/Intake.ts"
import { forEver } from "../ForEver.ts"
import { keyOf, retryLater } from "../Messages.ts"
import { makeTenantQueues } from "../TenantQueues.ts"
import { makeBell } from "../Wakes.ts"
import { makeWorking, type Working } from "./Working.ts"

const maxFetched = 200
const fetchMillis = 1000
/** Many in one transaction cost little more than one, and whoever passes their events on is woken once. */
const gatherMillis = 50
const maxPolled = 200
const pollMillis = 1000

/** In memory, of one tenant and of all. */
const maxWaitingEach = 200
const maxWaiting = 1000

/** So many batches at a time: a tenant whose webhooks take long holds up one of them and not the next. */
const maxBatches = 3
const maxTenants = 100

interface Arrived {
  readonly tenant: string
  readonly id: string
  readonly message: JsMsg
}

/** Works webhooks as the broker brings them. Tenants take turns. */
const consume = (working: Working) =>
  Effect.gen(function* () {
    const broker = yield* Broker
    const stream = yield* InboundStream
    const intake = yield* Intake
    const arrivals = yield* makeBell
    const queues = makeTenantQueues<Arrived>(maxWaitingEach)
    const fork = yield* FiberSet.makeRuntime<never, void, never>()
    const atWork = new Set<string>()
    let underWay = 0
    const { inbound } = broker.names

    const take = (message: JsMsg) =>
      Either.match(keyOf(message.string()), {
        onLeft: () => message.term(), // nothing of ours, and no better the next time
        onRight: (key) => {
          // What a tenant has beyond its room is found in the database when it has waited for long enough.
          if (!queues.offer(key.tenant, { ...key, message })) message.ack()
        }
      })

    const fetch = Effect.gen(function* () {
      const room = maxWaiting - queues.size()
      if (room <= 0) return yield* Effect.sleep(gatherMillis)
      const jetstream = yield* broker.jetstream
      yield* asking(async () => {
        const consumer = await jetstream.consumers.get(inbound.stream, inbound.intake)
        const messages = await consumer.fetch({ max_messages: Math.min(room, maxFetched), expires: fetchMillis })
        for await (const message of messages) {
          take(message)
          arrivals.ring()
        }
      })
    }).pipe(
      Effect.catchIf(
        (error) => error.isStreamMissing || error.is("consumerNotFound"),
        () => stream.declare
      )
    )

    /** What waits no more, or not for now, needs no message: who is paused is found again in the database. */
    const work = (batch: ReadonlyArray<Arrived>) =>
      Effect.gen(function* () {
        const found = yield* intake.issuesOf(batch.map(({ id, tenant }) => ({ id, tenant })))
        const { isFinished } = yield* working(found)
        const left = new Set(found.filter((key) => !isFinished(key)).map(({ id }) => id))
        for (const { id, message } of batch) {
          if (left.has(id)) retryLater(message)
          else message.ack()
        }
      }).pipe(
        Effect.catchAllCause((cause) => {
          for (const { message } of batch) retryLater(message)
          return Effect.logWarning("Webhooks could not be worked; it is tried again", cause)
        })
      )

    const dispatch = Effect.gen(function* () {
      if (queues.size() === 0 || underWay === maxBatches) return yield* arrivals.wait(pollMillis)
      yield* Effect.sleep(gatherMillis)
      const turns = queues.take(maxTenants, maxFetched, (tenant) => atWork.has(tenant))
      if (turns.length === 0) return yield* arrivals.wait(pollMillis)
      underWay++
      for (const { tenant } of turns) atWork.add(tenant)
      const end = Effect.sync(() => {
        underWay--
        for (const { tenant } of turns) atWork.delete(tenant)
        arrivals.ring()
      })
      fork(Effect.ensuring(work(turns.flatMap(({ items }) => items)), end))
    })

    yield* Effect.forkScoped(forEver("Working webhooks", dispatch))
    yield* Effect.forkScoped(forEver("Asking the broker for webhooks", fetch))
  })

/** Works what the broker did not bring: it was lost, it failed before, or its integration was paused. */
const poll = (working: Working) =>
  Effect.map(Intake, (intake) =>
    Effect.gen(function* () {
      const found = yield* intake.forgotten(maxPolled)
      const { isAnyLeft } = yield* working(found)
      if (found.length < maxPolled && !isAnyLeft) yield* Effect.sleep(pollMillis)
    })
  )

export const IntakeLive = Layer.scopedDiscard(
  Effect.gen(function* () {
    const working = yield* makeWorking
    yield* consume(working)
    yield* Effect.forkScoped(forEver("Looking for webhooks that wait", yield* poll(working)))
  })
).pipe(Layer.provide([Intake.Default, InboundStream.Default, IntakeMetrics.Default]), Layer.provide(Broker.Default))
