import { Clock, Duration, Effect } from "effect"
import { headers } from "nats"
import type { Sent } from "../../domain/delivery/Sent.ts"
import { Settings } from "../config/Settings.ts"
import { asking, Broker, patience } from "./Broker.ts"
import { BrokerError } from "./BrokerError.ts"
import { addConsumer, type Consumer, dropConsumer, listConsumers } from "./Consumers.ts"
import { declareStreams } from "./Streams.ts"

export interface Message {
  readonly tenant: string
  readonly integration: string
  readonly type: string
  /** Of the event. */
  readonly id: string
  readonly body: string
  /** Another number each time it is sent again on demand, the same for all attempts in between. */
  readonly round?: number
}

/** A consumer that somebody else removed is missed no longer than this. */
const remembered = Duration.toMillis("1 minute")

/**
 * The stream drops a message whose id it has seen within two minutes. So an attempt repeated because its acknowledgement
 * was lost is stored once, and one that is wanted again needs another id.
 */
const messageId = ({ id, integration, round = 0 }: Message) =>
  round === 0 ? `${integration}:${id}` : `${integration}:${id}:${round}`

const headersOf = ({ id }: Message) => {
  const described = headers()
  described.set("webhook-id", id)
  described.set("content-type", "application/json")
  return described
}

/** Delivers to consumers over NATS: delivered is what the stream has stored. */
export class NatsSender extends Effect.Service<NatsSender>()("layers/NatsSender", {
  effect: Effect.gen(function* () {
    const broker = yield* Broker
    const settings = yield* Settings
    const { integrations } = broker.names
    const known = new Map<string, number>()
    let session = 0

    const declared = declareStreams.pipe(
      Effect.provideService(Broker, broker),
      Effect.provideService(Settings, settings)
    )

    const isKnown = (integration: string) =>
      Effect.zipWith(broker.session, Clock.currentTimeMillis, (current, now) => {
        if (current !== session) known.clear()
        session = current
        return (known.get(integration) ?? 0) > now
      })

    /** Without the stream there is no consumer at all. */
    const forgetAfter = (integration: string) => (error: BrokerError) =>
      Effect.sync(() => (error.isStreamMissing ? known.clear() : known.delete(integration)))

    const ensureConsumer = (tenant: string, integration: string) =>
      Effect.gen(function* () {
        const manager = yield* broker.manager
        const added = addConsumer(manager, broker.names, tenant, integration)
        yield* added.pipe(
          Effect.tapError(forgetAfter(integration)),
          Effect.catchIf(
            (error) => error.isStreamMissing,
            () => Effect.zipRight(declared, added)
          )
        )
        known.set(integration, (yield* Clock.currentTimeMillis) + remembered)
      }).pipe(Effect.unlessEffect(isKnown(integration)), Effect.asVoid)

    const publish = (message: Message) =>
      Effect.flatMap(broker.jetstream, (jetstream) =>
        asking(() =>
          jetstream.publish(integrations.subject(message.tenant, message.integration, message.type), message.body, {
            msgID: messageId(message),
            headers: headersOf(message),
            expect: { streamName: integrations.stream },
            timeout: patience
          })
        )
      )

    return {
      /** Creates the integration's consumer, and the stream where it is missing. */
      ensureConsumer,

      /** For an integration that is no more: its consumer goes, and what waits for it. */
      removeConsumer: (tenant: string, integration: string) =>
        Effect.flatMap(broker.manager, (manager) => dropConsumer(manager, broker.names, tenant, integration)).pipe(
          Effect.ensuring(Effect.sync(() => known.delete(integration)))
        ),

      /**
       * Makes the consumers those of the integrations there are: creates what is missing, removes what is left over. It
       * lists consumers before it reads the integrations: a consumer made in between is not one that is left over.
       */
      reconcile: <E, R>(readIntegrations: Effect.Effect<ReadonlyArray<Consumer>, E, R>) =>
        Effect.gen(function* () {
          const manager = yield* broker.manager
          const present = yield* Effect.catchIf(
            listConsumers(manager, broker.names),
            (error) => error.isStreamMissing,
            () => Effect.succeed([])
          )
          const all = yield* readIntegrations
          yield* Effect.forEach(all, ({ id, tenant }) => ensureConsumer(tenant, id), { discard: true })
          const wanted = new Set(all.map(({ id }) => integrations.consumer(id)))
          for (const { tenant, id } of present)
            if (!wanted.has(id)) yield* dropConsumer(manager, broker.names, tenant, id)
        }),

      /** Never fails and never takes longer than the broker is waited for. */
      send: (message: Message): Effect.Effect<Sent> =>
        ensureConsumer(message.tenant, message.integration).pipe(
          Effect.zipRight(publish(message)),
          Effect.timeoutFail({
            duration: patience,
            onTimeout: () => new BrokerError({ cause: "The message broker did not answer in time" })
          }),
          Effect.tapError(forgetAfter(message.integration)),
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
