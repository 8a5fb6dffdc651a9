import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { FeedEvent } from "../infra/nats/EventStream.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"

/** Maximum of tenants in one batch. */
const maxTenantsPerBatch = 50

/** Duration of the leader's lease. The leader renews it when less than `renewWithin` is left. */
const leaseDuration = "5 seconds"
const renewWithin = "3 seconds"

/** Committed events: those without a position in the feed yet, and those that are not fanned out yet. */
export class Outbox extends Effect.Service<Outbox>()("layers/Outbox", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => {
    const eventColumns = sql.literal(`events.tenant_id as tenant, events.id, events.client_id as client, events.type,
      events.trace_parent as "traceParent"`)

    /** Acquires or renews the lease of the relay. `led` tells whether this holder has it. */
    const leaseCtes = (holder: string) => sql`
      taken as (
        insert into leases (name, holder, until) values ('relay', ${holder}, now() + interval ${sql.literal(`'${leaseDuration}'`)})
        on conflict (name) do update set holder = excluded.holder, until = excluded.until
        where leases.until < now()
          or (leases.holder = excluded.holder and leases.until < now() + interval ${sql.literal(`'${renewWithin}'`)})
        returning 1
      ), led as (
        select exists (select 1 from taken)
          or exists (select 1 from leases where name = 'relay' and holder = ${holder} and until >= now()) as held
      )`

    return {
      /**
       * Assigns feed positions to the next events. Returns undefined when another holder has the lease. Tenants after
       * `after` get equal shares of the batch, each in the order of its events, so that a busy tenant delays no other.
       * Should two holders believe to lead, row locks on the positions and the outbox serialize them, and no event gets two
       * positions. The statement drops entries of erased events.
       */
      assignPositions: (holder: string, max: number, after: string) =>
        Effect.orDie(sql<FeedEvent & { held: boolean; id: string | null }>`
          with recursive ${leaseCtes(holder)}, waiting as (
            (select tenant_id from outbox where (select held from led) and tenant_id > ${after}
             order by tenant_id limit 1)
            union all
            select next.tenant_id from waiting cross join lateral (
              select tenant_id from outbox where tenant_id > waiting.tenant_id order by tenant_id limit 1
            ) next
          ), sharing as materialized (
            select tenant_id from waiting limit ${maxTenantsPerBatch}
          ), fresh as materialized (
            select turn.*, row_number() over (order by entry) as n
            from sharing cross join lateral (
              select ctid as row, * from outbox where tenant_id = sharing.tenant_id
              order by tenant_id, entry limit ceil(${max}::numeric / (select count(*) from sharing))
            ) turn
          ), moved as (
            update event_positions set last = last + (select count(*) from fresh) where exists (select 1 from fresh)
            returning last - (select count(*) from fresh) as base
          ), gone as (
            delete from outbox using fresh
            where outbox.ctid = any (array(select row from fresh)) and outbox.ctid = fresh.row returning fresh.*
          ), placed as (
            insert into event_feed (tenant_id, position, event_id, resource_id, sequence, type)
            select gone.tenant_id, base + n, event_id, resource_id, sequence, type from gone, moved cross join lateral (
              select type from events where events.tenant_id = gone.tenant_id and events.id = gone.event_id limit 1
            ) event
            returning tenant_id, event_id, position
          )
          select led.held, ${eventColumns} from led
          left join (placed join events on events.tenant_id = placed.tenant_id and events.id = placed.event_id) on true
          order by placed.position`).pipe(
          Effect.map((rows): ReadonlyArray<FeedEvent> | undefined =>
            rows[0]?.held === true ? rows.filter(({ id }) => id !== null) : undefined
          )
        ),

      /** Releases the lease, so that another holder can take over at once. */
      releaseLease: (holder: string) =>
        Effect.orDie(sql`update leases set until = now() where name = 'relay' and holder = ${holder}`),

      /** Events with a position that are not fanned out yet, those after `after` in order. */
      listNotFannedOut: (after: number, max: number) =>
        Effect.orDie(sql<FeedEvent & { position: number }>`
          select ${eventColumns}, event_feed.position from event_feed
          join events on events.tenant_id = event_feed.tenant_id and events.id = event_feed.event_id
          where not event_feed.fanned_out and event_feed.position > 0 and event_feed.position > ${after}
          order by event_feed.position limit ${max}`)
    }
  }).pipe(withSpans("Outbox"))
}) {}
