import { Effect } from "effect"
import {
  AckPolicy,
  type ConsumerConfig,
  DiscardPolicy,
  type JetStreamManager,
  nanos,
  RetentionPolicy,
  StorageType,
  type StreamConfig
} from "nats"
import { Settings } from "../config/Settings.ts"
import { Broker, callBroker } from "./Broker.ts"
import type { NatsNames } from "./NatsNames.ts"

interface Declaration {
  readonly stream: Pick<StreamConfig, "name" | "subjects"> & Partial<StreamConfig>
  readonly consumers: ReadonlyArray<Partial<ConsumerConfig> & { readonly durable_name: string }>
}

const secondsToNanos = (count: number) => nanos(count * 1000)

/** Explicit acknowledgement: JetStream redelivers a message until a worker acknowledges it. */
const workConsumer = {
  ack_policy: AckPolicy.Explicit,
  ack_wait: secondsToNanos(30),
  max_ack_pending: 2000,
  max_deliver: -1
}

/**
 * All streams and our own consumers. PostgreSQL is the source of truth: a stream may be lost, and it keeps messages only
 * for as long as a consumer may be offline. Everything here works with nats-server 2.9.
 */
const declarationsFor = ({ events, inbound, integrations }: NatsNames): ReadonlyArray<Declaration> => [
  {
    stream: { name: events.stream, subjects: [events.subjects] },
    consumers: [
      {
        durable_name: events.fanOutConsumer,
        ...workConsumer
      }
    ]
  },
  {
    stream: { name: inbound.stream, subjects: [inbound.subjects] },
    consumers: [{ durable_name: inbound.intakeConsumer, ...workConsumer }]
  },
  // NatsSender creates one consumer per integration.
  { stream: { name: integrations.stream, subjects: [integrations.subjects] }, consumers: [] }
]

const defaultStreamConfig = {
  storage: StorageType.File,
  retention: RetentionPolicy.Limits,
  discard: DiscardPolicy.Old,
  max_age: secondsToNanos(7 * 24 * 60 * 60),
  duplicate_window: secondsToNanos(2 * 60)
}

const declareStream = (manager: JetStreamManager, stream: Declaration["stream"], num_replicas: number) => {
  const config = { ...defaultStreamConfig, ...stream, num_replicas }
  return callBroker(() => manager.streams.add(config)).pipe(
    Effect.catchIf(
      (error) => error.hasCode("streamNameInUse"),
      () => callBroker(() => manager.streams.update(stream.name, config))
    )
  )
}

/** Creates or updates a consumer. Since 2.10, `add` fails for an existing consumer with another configuration. */
export const declareConsumer = (
  manager: JetStreamManager,
  stream: string,
  consumer: Declaration["consumers"][number]
) =>
  callBroker(() => manager.consumers.add(stream, consumer)).pipe(
    Effect.catchIf(
      (error) => error.hasCode("consumerExists"),
      () => callBroker(() => manager.consumers.update(stream, consumer.durable_name, consumer))
    )
  )

/** Creates missing streams and consumers and updates the others. */
export const declareStreams = Effect.gen(function* () {
  const { NATS_REPLICAS } = yield* Settings
  const broker = yield* Broker
  const manager = yield* broker.jetstreamManager
  for (const { consumers, stream } of declarationsFor(broker.names)) {
    yield* declareStream(manager, stream, NATS_REPLICAS)
    yield* Effect.forEach(consumers, (consumer) => declareConsumer(manager, stream.name, consumer), { discard: true })
  }
})
