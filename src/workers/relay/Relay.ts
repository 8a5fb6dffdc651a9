import { randomUUID } from "node:crypto"
import { hostname } from "node:os"
import { Effect, Layer } from "effect"
import { DeliveryMetrics } from "../../layers/delivery/DeliveryMetrics.ts"
import { Outbox } from "../../layers/delivery/Outbox.ts"
import { Broker } from "../../layers/infra/nats/Broker.ts"
import type { FeedEvent } from "../../layers/infra/nats/EventStream.ts"
import { EventStream } from "../../layers/infra/nats/EventStream.ts"
import { makeEventTraces } from "../../layers/infra/telemetry/EventTraces.ts"
import { makeOutageLog } from "../../layers/infra/telemetry/OutageLog.ts"
import { runForever } from "../RunForever.ts"
import { makeWakeSignal, notifyOnWake } from "../WakeSignal.ts"

const batchSize = 500
const pollMillis = 250
const standbyMillis = 1000

/** Compares like the database: identifiers collate by their characters. */
const lastTenantOf = (placed: ReadonlyArray<FeedEvent>) =>
  placed.reduce((last, { tenant }) => (tenant > last ? tenant : last), "")

/**
 * The outbox relay. It assigns feed positions to committed events, which needs only the database, and publishes them to
 * NATS. After a failed publish it reads the unfinished events back from the database, oldest first, while it publishes
 * new ones. The fan-out finds events that the broker loses later.
 */
const makeRelay = Effect.gen(function* () {
  const outbox = yield* Outbox
  const stream = yield* EventStream
  const metrics = yield* DeliveryMetrics
  const traces = yield* makeEventTraces
  const holder = `${hostname()}.${process.pid}.${randomUUID()}`
  const wakeSignal = yield* makeWakeSignal
  yield* notifyOnWake(wakeSignal)

  const outage = makeOutageLog("Cannot publish events to NATS; retrying", "Publishing events to NATS again")

  // A new leader does not know what its predecessor published. Position 0 precedes every event.
  let isLeading = false
  let unpublishedAfter: number | undefined = 0
  /** Cursor: the last tenant of the previous batch. */
  let afterTenant = ""

  const publish = (events: ReadonlyArray<FeedEvent>) =>
    Effect.tap(traces.withSpans(events, "Relay.publish", "producer", stream.publish), () =>
      Effect.sync(() => metrics.countPublished(events.length))
    )

  const republishAll = Effect.sync(() => {
    unpublishedAfter = 0
  })

  /**
   * Publishes one page of unfinished events. From the start it declares the streams, since their loss may be the cause.
   */
  const catchUp = (after: number) =>
    Effect.gen(function* () {
      if (after === 0) yield* stream.declareStreams
      const page = yield* outbox.listNotFannedOut(after, batchSize)
      yield* publish(page)
      yield* outage.onSuccess
      unpublishedAfter = page.length < batchSize ? undefined : page.at(-1)?.position
    }).pipe(Effect.catchTag("BrokerError", (error) => Effect.zipRight(outage.onFailure(error), republishAll)))

  const step = Effect.gen(function* () {
    const placed = yield* outbox.assignPositions(holder, batchSize, afterTenant)
    const wasLeading = isLeading
    isLeading = placed !== undefined
    metrics.setLeading(isLeading)
    if (placed === undefined) return yield* Effect.sleep(standbyMillis)
    if (!wasLeading) {
      yield* Effect.logInfo("Leading")
      yield* republishAll
    }
    // At 0 the broker may be down or the streams missing. `catchUp` declares them first.
    if (unpublishedAfter !== 0 && placed.length > 0) {
      yield* Effect.catchTag(publish(placed), "BrokerError", () => republishAll)
    }
    if (unpublishedAfter !== undefined) yield* catchUp(unpublishedAfter)
    const isFirst = afterTenant === ""
    afterTenant = lastTenantOf(placed)
    if (isFirst && placed.length < batchSize && (unpublishedAfter === undefined || unpublishedAfter === 0))
      yield* wakeSignal.wait(pollMillis)
  })

  /** Without the database nobody knows who has the lease. */
  const stopLeading = Effect.sync(() => metrics.setLeading(false))

  yield* Effect.addFinalizer(() =>
    Effect.zipRight(stopLeading, Effect.ignore(Effect.timeout(outbox.releaseLease(holder), "2 seconds")))
  )
  yield* Effect.forkScoped(
    runForever(
      "Relay",
      Effect.tapErrorCause(step, () => stopLeading)
    )
  )
})

export const RelayLive = Layer.scopedDiscard(makeRelay).pipe(
  Layer.provide([Outbox.Default, EventStream.Default, DeliveryMetrics.Default]),
  Layer.provide(Broker.Default)
)
