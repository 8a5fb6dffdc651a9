import { randomUUID } from "node:crypto"
import { hostname } from "node:os"
import { Effect, Layer } from "effect"
import { Outbox } from "../../layers/delivery/Outbox.ts"
import { Broker } from "../../layers/nats/Broker.ts"
import type { Placed } from "../../layers/nats/EventStream.ts"
import { EventStream } from "../../layers/nats/EventStream.ts"
import { DeliveryMetrics } from "../../layers/telemetry/DeliveryMetrics.ts"
import { forEver } from "../ForEver.ts"
import { makeBell, ringOnWake } from "../Wakes.ts"

const batch = 500
const pollMillis = 250
const notLeadingMillis = 1000

/** In the order of the database, which for identifiers is that of their characters. */
const lastTenantOf = (placed: ReadonlyArray<Placed>) =>
  placed.reduce((last, { tenant }) => (tenant > last ? tenant : last), "")

/**
 * Passes committed events on: gives them their positions, which needs the database alone, and publishes them. What could
 * not be published is published from the database, from its oldest on, beside what is new. What the broker loses
 * afterwards, the fan-out finds in the database.
 */
const makeRelay = Effect.gen(function* () {
  const outbox = yield* Outbox
  const stream = yield* EventStream
  const metrics = yield* DeliveryMetrics
  const holder = `${hostname()}.${process.pid}.${randomUUID()}`
  const bell = yield* makeBell
  yield* ringOnWake(bell)

  // Whoever begins to lead knows nothing of what the leader before had published: position 0 is before every event.
  let isLeading = false
  let unpublishedAfter: number | undefined = 0
  /** The last tenant of the batch before: the next begins behind it. */
  let after = ""

  const publish = (events: ReadonlyArray<Placed>) =>
    Effect.tap(stream.publish(events), () => Effect.sync(() => metrics.published(events.length)))

  const startOver = Effect.sync(() => {
    unpublishedAfter = 0
  })

  /** One page of what is not finished; the streams may be gone, which is why it is not published. */
  const catchUp = (after: number) =>
    Effect.gen(function* () {
      if (after === 0) yield* stream.declare
      const page = yield* outbox.unfinished(after, batch)
      yield* publish(page)
      unpublishedAfter = page.length < batch ? undefined : page.at(-1)?.position
    }).pipe(
      Effect.catchTag("BrokerError", (error) => Effect.zipRight(Effect.logDebug("Not published", error), startOver))
    )

  const step = Effect.gen(function* () {
    const placed = yield* outbox.place(holder, batch, after)
    const wasLeading = isLeading
    isLeading = placed !== undefined
    if (placed === undefined) return yield* Effect.sleep(notLeadingMillis)
    if (!wasLeading) {
      yield* Effect.logInfo("Leading")
      yield* startOver
    }
    // At 0 the broker may be away, or the streams gone: catching up declares them.
    if (unpublishedAfter !== 0 && placed.length > 0) {
      yield* Effect.catchTag(publish(placed), "BrokerError", () => startOver)
    }
    if (unpublishedAfter !== undefined) yield* catchUp(unpublishedAfter)
    const isFirst = after === ""
    after = lastTenantOf(placed)
    if (isFirst && placed.length < batch && (unpublishedAfter === undefined || unpublishedAfter === 0))
      yield* bell.wait(pollMillis)
  })

  yield* Effect.addFinalizer(() => Effect.ignore(Effect.timeout(outbox.resign(holder), "2 seconds")))
  yield* Effect.forkScoped(forEver("Relaying", step))
})

export const RelayLive = Layer.scopedDiscard(makeRelay).pipe(
  Layer.provide([Outbox.Default, EventStream.Default, DeliveryMetrics.Default]),
  Layer.provide(Broker.Default)
)
