import * as SqlClient from "@effect/sql/SqlClient"
import { Effect, Struct } from "effect"
import { Counter, Gauge, Histogram } from "prom-client"
import { AttemptOutcome } from "../../domain/delivery/Delivery.ts"
import { type SendPool, sendPools, slowAfterMs } from "../../domain/delivery/SendLimits.ts"
import { makeBacklogGauges } from "../infra/postgres/BacklogGauges.ts"
import { MetricsRegistry } from "../infra/telemetry/MetricsRegistry.ts"

const backlog = {
  outbox_events: "Events in the outbox that the relay has not processed yet",
  outbox_oldest_seconds: "Age of the oldest event in the outbox",
  feed_waiting_events: "Events in the feed that are not fanned out yet",
  deliveries_due: "Deliveries that are due and not claimed",
  deliveries_in_flight: "Deliveries that a worker has claimed",
  deliveries_oldest_due_seconds: "Time since the oldest due delivery became due",
  delivery_slow_receivers: "Integrations with slow receivers, which share the slots of the SLOW pool"
}

/** Every subquery uses a partial index of pending rows, so the cost does not grow with the history. */
const queryBacklog = (sql: SqlClient.SqlClient) => sql<Record<keyof typeof backlog, number>>`
  with due as (
    select count(*) as count, extract(epoch from now() - min(next_attempt_at)) as seconds from deliveries
    where status = 'PENDING' and lease is null and next_attempt_at <= now()
  )
  select (select count(*) from outbox) as outbox_events,
    coalesce(extract(epoch from now() - (
      select occurred_at from events e, (select tenant_id, event_id from outbox order by entry limit 1) first
      where e.tenant_id = first.tenant_id and e.id = first.event_id)), 0) as outbox_oldest_seconds,
    (select count(*) from event_feed where not fanned_out and position > 0) as feed_waiting_events,
    due.count as deliveries_due,
    (select count(*) from deliveries where lease is not null) as deliveries_in_flight,
    coalesce(due.seconds, 0) as deliveries_oldest_due_seconds,
    (select count(*) from integrations where latency_class = 'SLOW') as delivery_slow_receivers
  from due`

/** The limit that a claim hit: the slots of its pool, or the share of a tenant. */
const caps = ["POOL", "TENANT"] as const

/** From a delivery without any queue to one that needed retries for a day. */
const deliverySeconds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 3600, 86_400]

type SendingProvider = keyof typeof slowAfterMs

const sendingProviders = Struct.keys(slowAfterMs)

/** Backlog of the relay and of the deliveries, and counters of their work. */
export class DeliveryMetrics extends Effect.Service<DeliveryMetrics>()("layers/DeliveryMetrics", {
  dependencies: [MetricsRegistry.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { registry } = yield* MetricsRegistry
    const attempts = new Counter({
      name: "delivery_attempts_total",
      help: "Delivery attempts by outcome",
      labelNames: ["outcome"],
      registers: [registry]
    })
    const published = new Counter({
      name: "events_published_total",
      help: "Events published to NATS",
      registers: [registry]
    })
    const slots = new Gauge({
      name: "delivery_slots_in_use",
      help: "Sending slots in use by pool, until the outcome is recorded",
      labelNames: ["pool"],
      registers: [registry]
    })
    const capped = new Counter({
      name: "delivery_claims_capped_total",
      help: "Claims that skipped a full pool, or a tenant at its share",
      labelNames: ["cap"],
      registers: [registry]
    })
    const delivered = new Histogram({
      name: "event_delivery_seconds",
      help: "Time from a change to the recorded success of its first delivery to an integration, by provider",
      labelNames: ["provider"],
      buckets: deliverySeconds,
      registers: [registry]
    })
    const leader = new Gauge({
      name: "relay_leading",
      help: "1 while this process is the relay that publishes events, otherwise 0",
      registers: [registry]
    })
    for (const provider of sendingProviders) delivered.zero({ provider })
    for (const pool of sendPools) slots.set({ pool }, 0)
    for (const cap of caps) capped.inc({ cap }, 0)
    for (const outcome of AttemptOutcome.literals) attempts.inc({ outcome }, 0)

    return {
      countAttempts: (outcome: AttemptOutcome, count = 1) => attempts.inc({ outcome }, count),
      countPublished: (count = 1) => published.inc(count),
      observeDelivered: (provider: SendingProvider, millis: number) =>
        delivered.observe({ provider }, Math.max(0, millis) / 1000),
      setLeading: (leads: boolean) => leader.set(leads ? 1 : 0),
      setSlotsInUse: (pool: SendPool, count: number) => slots.set({ pool }, count),
      countCapped: (cap: (typeof caps)[number], count: number) => capped.inc({ cap }, count),
      /** Refreshes the backlog gauges. */
      refreshBacklog: yield* makeBacklogGauges(registry, backlog, queryBacklog(sql))
    }
  })
}) {}
