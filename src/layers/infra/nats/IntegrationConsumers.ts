import { Effect } from "effect"
import { AckPolicy, type ConsumerConfig, type JetStreamManager, nanos } from "nats"
import { callBroker } from "./BrokerError.ts"
import type { NatsNames } from "./NatsNames.ts"
import { declareConsumer } from "./Streams.ts"

/** A message that was on its way when a NATS server or its reader died comes again after this time. */
const ackWaitMs = 10_000

/**
 * We create the consumer, not its user: the permission to create one would open every subject of the stream. A pull ends
 * after one minute, because the broker forgets its reply permission after two minutes, see examples/nats.
 */
const consumerConfigOf = (
  { consumerName, subjectFilter }: NatsNames["integrations"],
  tenant: string,
  integration: string
) =>
  ({
    durable_name: consumerName(integration),
    filter_subject: subjectFilter(tenant, integration),
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(ackWaitMs),
    max_expires: nanos(60_000)
  }) satisfies Partial<ConsumerConfig>

export const upsertConsumer = (
  manager: JetStreamManager,
  { integrations }: NatsNames,
  tenant: string,
  integration: string
) => declareConsumer(manager, integrations.stream, consumerConfigOf(integrations, tenant, integration))

/** Deletes the consumer and purges its undelivered messages. */
export const deleteConsumer = (
  manager: JetStreamManager,
  { integrations }: NatsNames,
  tenant: string,
  integration: string
) => {
  const filter = integrations.subjectFilter(tenant, integration)
  return callBroker(() => manager.consumers.delete(integrations.stream, integrations.consumerName(integration))).pipe(
    Effect.catchIf(
      (error) => error.hasCode("consumerNotFound"),
      () => Effect.void
    ),
    Effect.zipRight(callBroker(() => manager.streams.purge(integrations.stream, { filter }))),
    Effect.catchIf(
      (error) => error.hasCode("streamNotFound"),
      () => Effect.void
    ),
    Effect.asVoid
  )
}

/** The NATS consumer of an integration; `id` is the id of the integration. */
export interface IntegrationConsumer {
  readonly tenant: string
  readonly id: string
}

/** Lists the existing consumers. Tenant and integration come from the filter subject. */
export const listConsumers = (manager: JetStreamManager, { integrations }: NatsNames) =>
  callBroker(async () => {
    const found: Array<IntegrationConsumer> = []
    for await (const { config } of manager.consumers.list(integrations.stream)) {
      const [tenant, id] = config.filter_subject?.slice(integrations.subjects.length - 1).split(".") ?? []
      if (tenant !== undefined && id !== undefined) found.push({ tenant, id })
    }
    return found
  })
