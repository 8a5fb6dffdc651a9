import { Effect } from "effect"
import { headers } from "nats"
import { Settings } from "../config/Settings.ts"
import { ConnectionMetrics } from "../telemetry/ConnectionMetrics.ts"
import { Broker } from "./Broker.ts"
import { type BrokerError, callBroker } from "./BrokerError.ts"
import { declareStreams } from "./Streams.ts"

/** An event with a position in the feed, reduced to the fields that the relay publishes. */
export interface FeedEvent {
  readonly tenant: string
  readonly id: string
  readonly client: string | null
  readonly type: string
  readonly traceParent: string | null
}

const traceHeadersOf = (traceParent: string) => {
  const result = headers()
  result.set("traceparent", traceParent)
  return result
}

/** The JetStream stream of events. Messages carry event ids only; the data stays in PostgreSQL. */
export class EventStream extends Effect.Service<EventStream>()("layers/EventStream", {
  dependencies: [ConnectionMetrics.Default],
  effect: Effect.gen(function* () {
    const broker = yield* Broker
    const settings = yield* Settings
    const metrics = yield* ConnectionMetrics
    const { events } = broker.names
    const countError = <A, R>(request: Effect.Effect<A, BrokerError, R>) =>
      Effect.tapError(request, ({ code }) => Effect.sync(() => metrics.countJetStreamError(code)))

    return {
      declareStreams: declareStreams.pipe(
        Effect.provideService(Broker, broker),
        Effect.provideService(Settings, settings),
        countError
      ),

      /** Publishes in order and waits for every acknowledgement. JetStream drops duplicates within two minutes. */
      publish: (placed: ReadonlyArray<FeedEvent>) =>
        Effect.flatMap(broker.jetstream, (stream) =>
          callBroker(() =>
            Promise.all(
              placed.map(({ client, id, tenant, traceParent, type }) =>
                stream.publish(events.subject(tenant, client ?? undefined, type), JSON.stringify({ tenant, id }), {
                  msgID: id,
                  ...(traceParent === null ? {} : { headers: traceHeadersOf(traceParent) })
                })
              )
            )
          )
        ).pipe(countError)
    }
  })
}) {}
