import { Effect } from "effect"
import { AckPolicy, type ConsumerConfig, type JetStreamManager, nanos } from "nats"
import { asking } from "./Broker.ts"
import { declareConsumer } from "./Streams.ts"
import type { Names } from "./Subjects.ts"

/**
 * We create the consumer, not its user: the permission to create one would open every subject of the stream. A pull ends
 * after one minute, because the broker forgets its reply permission after two minutes, see examples/nats.
 */
const consumerConfigOf = ({ consumer, filter }: Names["integrations"], tenant: string, integration: string) =>
  ({
    durable_name: consumer(integration),
    filter_subject: filter(tenant, integration),
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(30_000),
    max_expires: nanos(60_000)
  }) satisfies Partial<ConsumerConfig>

export const addConsumer = (manager: JetStreamManager, { integrations }: Names, tenant: string, integration: string) =>
  declareConsumer(manager, integrations.stream, consumerConfigOf(integrations, tenant, integration))

/** Deletes the consumer and purges its undelivered messages. */
export const dropConsumer = (
  manager: JetStreamManager,
  { integrations }: Names,
  tenant: string,
  integration: string
) => {
  const filter = integrations.filter(tenant, integration)
  return asking(() => manager.consumers.delete(integrations.stream, integrations.consumer(integration))).pipe(
    Effect.catchIf(
      (error) => error.is("consumerNotFound"),
      () => Effect.void
    ),
    Effect.zipRight(asking(() => manager.streams.purge(integrations.stream, { filter }))),
    Effect.catchIf(
      (error) => error.is("streamNotFound"),
      () => Effect.void
    ),
    Effect.asVoid
  )
}

/** The NATS consumer of an integration; `id` is the id of the integration. */
export interface Consumer {
  readonly tenant: string
  readonly id: string
}

/** Lists the existing consumers. Tenant and integration come from the filter subject. */
export const listConsumers = (manager: JetStreamManager, { integrations }: Names) =>
  asking(async () => {
    const found: Array<Consumer> = []
    for await (const { config } of manager.consumers.list(integrations.stream)) {
      const [tenant, id] = config.filter_subject?.slice(integrations.subjects.length - 1).split(".") ?? []
      if (tenant !== undefined && id !== undefined) found.push({ tenant, id })
    }
    return found
  })
