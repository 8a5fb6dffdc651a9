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
import { asking, Broker } from "./Broker.ts"
import type { Names } from "./Subjects.ts"

interface Declaration {
  readonly stream: Pick<StreamConfig, "name" | "subjects"> & Partial<StreamConfig>
  readonly consumers: ReadonlyArray<Partial<ConsumerConfig> & { readonly durable_name: string }>
}

const seconds = (count: number) => nanos(count * 1000)

/** For who works through everything: what is not said to be done comes again. */
const worked = {
  ack_policy: AckPolicy.Explicit,
  ack_wait: seconds(30),
  max_ack_pending: 2000,
  max_deliver: -1
}

/**
 * Every stream, and the consumers of our own. PostgreSQL is the truth, so that each may be lost and is only kept for as
 * long as readers may be away. Nothing here is younger than nats-server 2.9.
 */
const declarations = ({ events, inbound, integrations }: Names): ReadonlyArray<Declaration> => [
  {
    stream: { name: events.stream, subjects: [events.subjects] },
    consumers: [
      {
        durable_name: events.fanOut,
        ...worked
      }
    ]
  },
  {
    stream: { name: inbound.stream, subjects: [inbound.subjects] },
    consumers: [{ durable_name: inbound.intake, ...worked }]
  },
  // Their consumers are made one by one, as integrations are.
  { stream: { name: integrations.stream, subjects: [integrations.subjects] }, consumers: [] }
]

const common = {
  storage: StorageType.File,
  retention: RetentionPolicy.Limits,
  discard: DiscardPolicy.Old,
  max_age: seconds(7 * 24 * 60 * 60),
  duplicate_window: seconds(2 * 60)
}

const declareStream = (manager: JetStreamManager, stream: Declaration["stream"], num_replicas: number) => {
  const config = { ...common, ...stream, num_replicas }
  return asking(() => manager.streams.add(config)).pipe(
    Effect.catchIf(
      (error) => error.is("streamNameInUse"),
      () => asking(() => manager.streams.update(stream.name, config))
    )
  )
}

/** Servers since 2.10 leave it to another call to change a consumer that exists. */
export const declareConsumer = (
  manager: JetStreamManager,
  stream: string,
  consumer: Declaration["consumers"][number]
) =>
  asking(() => manager.consumers.add(stream, consumer)).pipe(
    Effect.catchIf(
      (error) => error.is("consumerExists"),
      () => asking(() => manager.consumers.update(stream, consumer.durable_name, consumer))
    )
  )

/** Creates the streams and consumers that are missing and brings the others up to date. */
export const declareStreams = Effect.gen(function* () {
  const { NATS_REPLICAS } = yield* Settings
  const broker = yield* Broker
  const manager = yield* broker.manager
  for (const { consumers, stream } of declarations(broker.names)) {
    yield* declareStream(manager, stream, NATS_REPLICAS)
    yield* Effect.forEach(consumers, (consumer) => declareConsumer(manager, stream.name, consumer), { discard: true })
  }
})
