import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { Counter, Gauge } from "prom-client"
import { AttemptOutcome } from "../../domain/delivery/Delivery.ts"
import { type Pool, pools } from "../../domain/delivery/SendLimits.ts"
import { makeBacklog } from "./Backlog.ts"
import { MetricsRegistry } from "./MetricsRegistry.ts"

const backlog = {
  outbox_events: "Events nobody has looked at yet",
  outbox_oldest_seconds: "How long ago the first of these happened",
  feed_waiting_events: "Events that have a place in the feed and are not fanned out yet",
  deliveries_due: "Deliveries that could be sent now",
  deliveries_in_flight: "Deliveries that are being sent",
  deliveries_oldest_due_seconds: "For how long the first of those that are due has been so",
  delivery_slow_receivers: "Integrations whose receivers answer slowly and get a small share of the slots"
}

/** A statement of which every part is answered by an index that holds only what is still to be done. */
const reading = (sql: SqlClient.SqlClient) => sql<Record<keyof typeof backlog, number>>`
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

/** What kept a claim from taking more: the slots of a pool are in use, or a tenant uses its share. */
const caps = ["POOL", "TENANT"] as const

/** How far behind the relay and the deliveries are, and what came of what was sent. */
export class DeliveryMetrics extends Effect.Service<DeliveryMetrics>()("layers/DeliveryMetrics", {
  dependencies: [MetricsRegistry.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { registry } = yield* MetricsRegistry
    const attempts = new Counter({
      name: "delivery_attempts_total",
      help: "Attempts to deliver an event, by what came of them",
      labelNames: ["outcome"],
      registers: [registry]
    })
    const published = new Counter({
      name: "events_published_total",
      help: "Events handed on to the stream",
      registers: [registry]
    })
    const slots = new Gauge({
      name: "delivery_slots_in_use",
      help: "Sending slots in use, by what is known of the receiver; outcomes not recorded yet included",
      labelNames: ["pool"],
      registers: [registry]
    })
    const capped = new Counter({
      name: "delivery_claims_capped_total",
      help: "Claims that skipped a pool without free slots, or a tenant that uses its share",
      labelNames: ["cap"],
      registers: [registry]
    })
    for (const pool of pools) slots.set({ pool }, 0)
    for (const cap of caps) capped.inc({ cap }, 0)
    for (const outcome of AttemptOutcome.literals) attempts.inc({ outcome }, 0)

    return {
      attempted: (outcome: AttemptOutcome, count = 1) => attempts.inc({ outcome }, count),
      published: (count = 1) => published.inc(count),
      slotsInUse: (pool: Pool, count: number) => slots.set({ pool }, count),
      capped: (cap: (typeof caps)[number], count: number) => capped.inc({ cap }, count),
      /** Reads the backlog anew. */
      refresh: yield* makeBacklog(registry, backlog, reading(sql))
    }
  })
}) {}
