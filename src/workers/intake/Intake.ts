import { Effect, Either, FiberSet, Layer } from "effect"
import type { JsMsg } from "nats"
import { Broker } from "../../layers/infra/nats/Broker.ts"
import { callBroker } from "../../layers/infra/nats/BrokerError.ts"
import { InboundStream } from "../../layers/infra/nats/InboundStream.ts"
import { InboundProcessor } from "../../layers/trackers/InboundProcessor.ts"
import { IntakeMetrics } from "../../layers/trackers/IntakeMetrics.ts"
import { decodeRowKey, nakWithBackoff } from "../BrokerMessages.ts"
import { runForever } from "../RunForever.ts"
import { makeTenantQueues } from "../TenantQueues.ts"
import { makeWakeSignal } from "../WakeSignal.ts"
import { type IssueProcessor, makeIssueProcessor } from "./IssueProcessor.ts"

const maxFetched = 200
const fetchTimeoutMs = 1000
/** Waits for more messages: a large transaction costs little more than a small one and wakes the relay once. */
const gatherMillis = 50
const maxPolled = 200
const pollMillis = 1000

/** In-memory queue bounds: per tenant and in total. */
const maxQueuedPerTenant = 200
const maxQueued = 1000

/** Concurrent batches: a tenant with slow webhooks delays one batch, not the next. */
const maxBatches = 3
const maxTenants = 100

interface QueuedWebhook {
  readonly tenant: string
  readonly id: string
  readonly message: JsMsg
}

/** Processes webhooks from the broker, round-robin over the tenants. */
const consume = (processIssues: IssueProcessor) =>
  Effect.gen(function* () {
    const broker = yield* Broker
    const stream = yield* InboundStream
    const intake = yield* InboundProcessor
    const arrivals = yield* makeWakeSignal
    const queues = makeTenantQueues<QueuedWebhook>(maxQueuedPerTenant)
    const fork = yield* FiberSet.makeRuntime<never, void, never>()
    const busyTenants = new Set<string>()
    let runningBatches = 0
    const { inbound } = broker.names

    const enqueue = (message: JsMsg) =>
      Either.match(decodeRowKey(message.string()), {
        onLeft: () => message.term(), // malformed: redelivery would not help
        onRight: (key) => {
          // The queue is full: `poll` finds the webhook in the database later.
          if (!queues.offer(key.tenant, { ...key, message })) message.ack()
        }
      })

    const fetch = Effect.gen(function* () {
      const capacity = maxQueued - queues.size()
      if (capacity <= 0) return yield* Effect.sleep(gatherMillis)
      const jetstream = yield* broker.jetstream
      yield* callBroker(async () => {
        const consumer = await jetstream.consumers.get(inbound.stream, inbound.intakeConsumer)
        const messages = await consumer.fetch({ max_messages: Math.min(capacity, maxFetched), expires: fetchTimeoutMs })
        for await (const message of messages) {
          enqueue(message)
          arrivals.notify()
        }
      })
    }).pipe(
      Effect.catchIf(
        (error) => error.isStreamMissing || error.hasCode("consumerNotFound"),
        () => stream.declareStreams
      )
    )

    /** Acknowledges webhooks that are done or on hold. `poll` finds those of a paused integration after it resumes. */
    const processBatch = (batch: ReadonlyArray<QueuedWebhook>) =>
      Effect.gen(function* () {
        const found = yield* intake.findPendingIssues(batch.map(({ id, tenant }) => ({ id, tenant })))
        const { isFinished } = yield* processIssues(found)
        const left = new Set(found.filter((key) => !isFinished(key)).map(({ id }) => id))
        for (const { id, message } of batch) {
          if (left.has(id)) nakWithBackoff(message)
          else message.ack()
        }
      }).pipe(
        Effect.catchAllCause((cause) => {
          for (const { message } of batch) nakWithBackoff(message)
          return Effect.logWarning("Processing webhooks failed; retrying", cause)
        })
      )

    const dispatch = Effect.gen(function* () {
      if (queues.size() === 0 || runningBatches === maxBatches) return yield* arrivals.wait(pollMillis)
      yield* Effect.sleep(gatherMillis)
      const batches = queues.take(maxTenants, maxFetched, (tenant) => busyTenants.has(tenant))
      if (batches.length === 0) return yield* arrivals.wait(pollMillis)
      runningBatches++
      for (const { tenant } of batches) busyTenants.add(tenant)
      const end = Effect.sync(() => {
        runningBatches--
        for (const { tenant } of batches) busyTenants.delete(tenant)
        arrivals.notify()
      })
      fork(Effect.ensuring(processBatch(batches.flatMap(({ items }) => items)), end))
    })

    yield* Effect.forkScoped(runForever("Webhook processing", dispatch))
    yield* Effect.forkScoped(runForever("Webhook fetch", fetch))
  })

/**
 * Processes webhooks that the broker does not bring: lost messages, earlier failures, and paused integrations that
 * resumed. Returns false when there is nothing to do at the moment. A search returns only a few issues per integration,
 * so the number of issues that it found does not tell.
 */
export const processOverdue = (processIssues: IssueProcessor) =>
  Effect.gen(function* () {
    const { findOverdueIssues } = yield* InboundProcessor
    const { processedCount } = yield* processIssues(yield* findOverdueIssues(maxPolled))
    return processedCount > 0
  })

const poll = (processIssues: IssueProcessor) =>
  Effect.if(processOverdue(processIssues), { onTrue: () => Effect.void, onFalse: () => Effect.sleep(pollMillis) })

export const IntakeLive = Layer.scopedDiscard(
  Effect.gen(function* () {
    const processIssues = yield* makeIssueProcessor
    yield* consume(processIssues)
    yield* Effect.forkScoped(runForever("Webhook poll", poll(processIssues)))
  })
).pipe(
  Layer.provide([InboundProcessor.Default, InboundStream.Default, IntakeMetrics.Default]),
  Layer.provide(Broker.Default)
)
