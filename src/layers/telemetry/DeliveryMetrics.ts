import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { Counter, Gauge, type Registry } from "prom-client"
import { AttemptOutcome } from "../../domain/delivery/Delivery.ts"
import { MetricsRegistry } from "./MetricsRegistry.ts"

/** What is read from the database when somebody asks, so that it is the same whichever process is asked. */
const backlog = {
  outbox_events: "Events nobody has looked at yet",
  outbox_oldest_seconds: "How long ago the first of these happened",
  feed_waiting_events: "Events that have a place in the feed and are not fanned out yet",
  deliveries_due: "Deliveries that could be sent now",
  deliveries_in_flight: "Deliveries that are being sent",
  deliveries_oldest_due_seconds: "For how long the first of those that are due has been so"
}
type Name = keyof typeof backlog
const names = Object.keys(backlog) as ReadonlyArray<Name> // keys of the literal above

const makeGauges = (registry: Registry) =>
  names.map((name) => [name, new Gauge({ name, help: backlog[name], registers: [registry] })] as const)

/** A statement of which every part is answered by an index that holds only what is still to be done. */
const reading = (sql: SqlClient.SqlClient) => sql<Record<Name, number>>`
  with due as (
    select count(*) as count, extract(epoch from now() - min(next_attempt_at)) as seconds from deliveries
    where status = 'PENDING' and lease is null and next_attempt_at <= now()
  )
  select (select count(*) from outbox) as outbox_events,
    coalesce(extract(epoch from now() - (
      select occurred_at from events e, (select tenant_id, event_id from outbox order by entry limit 1) first
      where e.tenant_id = first.tenant_id and e.id = first.event_id)), 0) as outbox_oldest_seconds,
    (select count(*) from event_feed where not fanned_out) as feed_waiting_events,
    due.count as deliveries_due,
    (select count(*) from deliveries where lease is not null) as deliveries_in_flight,
    coalesce(due.seconds, 0) as deliveries_oldest_due_seconds
  from due`

/** How far behind the relay and the deliveries are, and what came of what was sent. */
export class DeliveryMetrics extends Effect.Service<DeliveryMetrics>()("layers/DeliveryMetrics", {
  dependencies: [MetricsRegistry.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { registry } = yield* MetricsRegistry
    const gauges = makeGauges(registry)
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
    for (const outcome of AttemptOutcome.literals) attempts.inc({ outcome }, 0)

    /** A number that is not known is not told, rather than an old one. */
    const set = (numbers: Partial<Record<Name, number>> | undefined) => {
      for (const [name, gauge] of gauges) {
        const value = numbers?.[name]
        if (value === undefined) gauge.remove()
        else gauge.set(Math.max(0, value))
      }
    }

    /** Once a second at the most, since anyone may ask. A database that does not answer hides nothing of the process. */
    const refresh = yield* reading(sql).pipe(
      // The statement itself cannot be interrupted, so it is left behind.
      Effect.disconnect,
      Effect.timeout("2 seconds"),
      Effect.match({ onFailure: () => undefined, onSuccess: ([numbers]) => numbers }),
      Effect.map(set),
      Effect.cachedWithTTL("1 second")
    )

    return {
      attempted: (outcome: AttemptOutcome, count = 1) => attempts.inc({ outcome }, count),
      published: (count = 1) => published.inc(count),
      /** Reads the backlog anew. */
      refresh
    }
  })
}) {}
