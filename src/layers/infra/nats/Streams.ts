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
import { Broker } from "./Broker.ts"
import { callBroker } from "./BrokerError.ts"
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

/** Maximum number of messages of one type that an integration may leave unread. */
const maxMessagesPerSubject = 100_000

/**
 * All streams and our own consumers. PostgreSQL is the source of truth: a stream may be lost, and it keeps messages only
 * for as long as a consumer may be offline. Everything here works with nats-server 2.9.
 *
 * A full stream of ids drops the oldest ones, which workers then find in PostgreSQL. A full stream of deliveries rejects
 * new ones, because PostgreSQL counts the stored ones as delivered; the rejected ones are retried. An integration that
 * leaves too much unread is rejected alone.
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
  {
    stream: {
      name: integrations.stream,
      subjects: [integrations.subjects],
      discard: DiscardPolicy.New,
      discard_new_per_subject: true,
      max_msgs_per_subject: maxMessagesPerSubject
    },
    consumers: []
  }
]

const defaultStreamConfig = {
  storage: StorageType.File,
  retention: RetentionPolicy.Limits,
  discard: DiscardPolicy.Old,
  max_age: secondsToNanos(7 * 24 * 60 * 60),
  duplicate_window: secondsToNanos(2 * 60)
}

const declareStream = (manager: JetStreamManager, config: Declaration["stream"]) => {
  return callBroker(() => manager.streams.add(config)).pipe(
    Effect.catchIf(
      (error) => error.hasCode("streamNameInUse"),
      () => callBroker(() => manager.streams.update(config.name, config))
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
  const { NATS_REPLICAS, NATS_STREAM_MAX_BYTES } = yield* Settings
  const sizes = { num_replicas: NATS_REPLICAS, max_bytes: NATS_STREAM_MAX_BYTES }
  const broker = yield* Broker
  const manager = yield* broker.jetstreamManager
  for (const { consumers, stream } of declarationsFor(broker.names)) {
    yield* declareStream(manager, { ...defaultStreamConfig, ...stream, ...sizes })
    yield* Effect.forEach(consumers, (consumer) => declareConsumer(manager, stream.name, consumer), { discard: true })
  }
})
