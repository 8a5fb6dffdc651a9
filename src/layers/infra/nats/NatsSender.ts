import { Clock, Duration, Effect, Schedule } from "effect"
import { headers } from "nats"
import type { SendResult } from "../../../domain/delivery/SendResult.ts"
import { Settings } from "../config/Settings.ts"
import { Broker, brokerTimeoutMs } from "./Broker.ts"
import { BrokerError, callBroker } from "./BrokerError.ts"
import { deleteConsumer, type IntegrationConsumer, listConsumers, upsertConsumer } from "./IntegrationConsumers.ts"
import { declareStreams } from "./Streams.ts"

export interface NatsMessage {
  readonly tenant: string
  readonly integration: string
  readonly type: string
  /** The id of the event. */
  readonly id: string
  readonly body: string
  /** Differs for each manual redelivery and stays the same across automatic retries. */
  readonly redeliveryRound?: number
  readonly traceParent?: string | undefined
}

/** After this time we check a consumer again, in case another process deleted it. */
const consumerCacheMs = Duration.toMillis("1 minute")

/**
 * JetStream drops a message id it has seen within two minutes. A retry after a lost acknowledgement is thus stored once,
 * and a manual redelivery needs another id.
 */
const messageIdOf = ({ id, integration, redeliveryRound = 0 }: NatsMessage) =>
  redeliveryRound === 0 ? `${integration}:${id}` : `${integration}:${id}:${redeliveryRound}`

const headersOf = ({ id, traceParent }: NatsMessage) => {
  const result = headers()
  result.set("webhook-id", id)
  result.set("content-type", "application/json")
  if (traceParent !== undefined) result.set("traceparent", traceParent)
  return result
}

/** Longer than a cluster takes to elect a leader, and shorter than the lease of a claim. */
export const natsAttemptTimeout = Duration.seconds(15)

const leaderSchedule = Schedule.union(Schedule.exponential("100 millis"), Schedule.spaced("1 second"))

/** Delivers events to NATS integrations. A delivery succeeds once the stream has stored the message. */
export class NatsSender extends Effect.Service<NatsSender>()("layers/NatsSender", {
  effect: Effect.gen(function* () {
    const broker = yield* Broker
    const settings = yield* Settings
    const { integrations } = broker.names
    /** Expiry of the cached existence of each consumer, in epoch milliseconds. */
    const knownUntil = new Map<string, number>()
    let knownEpoch = 0

    const declareMissing = declareStreams.pipe(
      Effect.provideService(Broker, broker),
      Effect.provideService(Settings, settings)
    )

    const isKnown = (integration: string) =>
      Effect.zipWith(broker.connectionEpoch, Clock.currentTimeMillis, (epoch, now) => {
        if (epoch !== knownEpoch) knownUntil.clear()
        knownEpoch = epoch
        return (knownUntil.get(integration) ?? 0) > now
      })

    /** A missing stream means that all its consumers are gone. */
    const forgetAfter = (integration: string) => (error: BrokerError) =>
      Effect.sync(() => (error.isStreamMissing ? knownUntil.clear() : knownUntil.delete(integration)))

    const ensureConsumer = (tenant: string, integration: string) =>
      Effect.gen(function* () {
        const manager = yield* broker.jetstreamManager
        const added = upsertConsumer(manager, broker.names, tenant, integration)
        yield* added.pipe(
          Effect.tapError(forgetAfter(integration)),
          Effect.catchIf(
            (error) => error.isStreamMissing,
            () => Effect.zipRight(declareMissing, added)
          )
        )
        knownUntil.set(integration, (yield* Clock.currentTimeMillis) + consumerCacheMs)
      }).pipe(Effect.unlessEffect(isKnown(integration)), Effect.asVoid)

    const publish = (message: NatsMessage) =>
      Effect.flatMap(broker.jetstream, (jetstream) =>
        callBroker(() =>
          jetstream.publish(integrations.subject(message.tenant, message.integration, message.type), message.body, {
            msgID: messageIdOf(message),
            headers: headersOf(message),
            expect: { streamName: integrations.stream },
            timeout: brokerTimeoutMs
          })
        )
      )

    return {
      /** Creates the consumer of an integration, and the stream if it is missing. */
      ensureConsumer,

      /** Deletes the consumer of a deleted integration and its undelivered messages. */
      removeConsumer: (tenant: string, integration: string) =>
        Effect.flatMap(broker.jetstreamManager, (manager) =>
          deleteConsumer(manager, broker.names, tenant, integration)
        ).pipe(Effect.ensuring(Effect.sync(() => knownUntil.delete(integration)))),

      /**
       * Creates missing consumers and deletes orphaned ones. It lists the consumers before it reads the integrations, so that
       * a consumer created in between does not look orphaned.
       */
      reconcile: <E, R>(readIntegrations: Effect.Effect<ReadonlyArray<IntegrationConsumer>, E, R>) =>
        Effect.gen(function* () {
          const manager = yield* broker.jetstreamManager
          const present = yield* Effect.catchIf(
            listConsumers(manager, broker.names),
            (error) => error.isStreamMissing,
            () => Effect.succeed([])
          )
          const all = yield* readIntegrations
          yield* Effect.forEach(all, ({ id, tenant }) => ensureConsumer(tenant, id), { discard: true })
          const wanted = new Set(all.map(({ id }) => integrations.consumerName(id)))
          for (const { tenant, id } of present)
            if (!wanted.has(id)) yield* deleteConsumer(manager, broker.names, tenant, id)
        }),

      /** Makes one attempt, which outlasts an election. Never fails, and ends within its timeout. */
      send: (message: NatsMessage): Effect.Effect<SendResult> =>
        ensureConsumer(message.tenant, message.integration).pipe(
          Effect.zipRight(publish(message)),
          Effect.tapError(forgetAfter(message.integration)),
          Effect.retry({ schedule: leaderSchedule, while: ({ isLeaderless }) => isLeaderless }),
          Effect.timeoutFail({
            duration: natsAttemptTimeout,
            onTimeout: () => new BrokerError({ cause: "The message broker did not answer in time" })
          }),
          Effect.either,
          Effect.timed,
          Effect.map(([latency, result]) => ({
            delivered: result._tag === "Right",
            latencyMs: Math.round(Duration.toMillis(latency)),
            ...(result._tag === "Left" ? { error: result.left.message } : {})
          }))
        )
    }
  })
}) {}
