import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { Placed } from "../nats/EventStream.ts"

/** Tenants that share a batch. */
const maxSharing = 50

/** How long nobody else leads after the leader was last heard of, and how early it says that it is still there. */
const term = "5 seconds"
const renewal = "3 seconds"

/** What was written and nobody has looked at yet, and what was looked at and is not finished. */
export class Outbox extends Effect.Service<Outbox>()("layers/Outbox", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => {
    const shown = sql.literal(`events.tenant_id as tenant, events.id, events.client_id as client, events.type`)

    /** Whether this holder leads; it does from now on if nobody else was heard of for a while. */
    const leading = (holder: string) => sql`
      taken as (
        insert into leases (name, holder, until) values ('relay', ${holder}, now() + interval ${sql.literal(`'${term}'`)})
        on conflict (name) do update set holder = excluded.holder, until = excluded.until
        where leases.until < now()
          or (leases.holder = excluded.holder and leases.until < now() + interval ${sql.literal(`'${renewal}'`)})
        returning 1
      ), led as (
        select exists (select 1 from taken)
          or exists (select 1 from leases where name = 'relay' and holder = ${holder} and until >= now()) as held
      )`

    return {
      /**
       * Gives the next events their positions, if this holder leads: undefined when it does not. Tenants behind `after`
       * share a batch, each in the order of its own events, so that one who writes much delays nobody else. Two who take
       * themselves for the leader wait for each other's row of positions and outbox; neither gives what the other gave.
       * An entry whose event was erased meanwhile is dropped.
       */
      place: (holder: string, most: number, after: string) =>
        Effect.orDie(sql<Placed & { held: boolean; id: string | null }>`
          with recursive ${leading(holder)}, waiting as (
            (select tenant_id from outbox where (select held from led) and tenant_id > ${after}
             order by tenant_id limit 1)
            union all
            select next.tenant_id from waiting cross join lateral (
              select tenant_id from outbox where tenant_id > waiting.tenant_id order by tenant_id limit 1
            ) next
          ), sharing as materialized (
            select tenant_id from waiting limit ${maxSharing}
          ), fresh as materialized (
            select turn.*, row_number() over (order by entry) as n
            from sharing cross join lateral (
              select ctid as row, * from outbox where tenant_id = sharing.tenant_id
              order by tenant_id, entry limit ceil(${most}::numeric / (select count(*) from sharing))
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
          select led.held, ${shown} from led
          left join (placed join events on events.tenant_id = placed.tenant_id and events.id = placed.event_id) on true
          order by placed.position`).pipe(
          Effect.map((rows): ReadonlyArray<Placed> | undefined =>
            rows[0]?.held === true ? rows.filter(({ id }) => id !== null) : undefined
          )
        ),

      /** Lets another lead at once. */
      resign: (holder: string) =>
        Effect.orDie(sql`update leases set until = now() where name = 'relay' and holder = ${holder}`),

      /** Events with a place of which it is not known yet who is to be told, those after `after` in their order. */
      unfinished: (after: number, most: number) =>
        Effect.orDie(sql<Placed & { position: number }>`
          select ${shown}, event_feed.position from event_feed
          join events on events.tenant_id = event_feed.tenant_id and events.id = event_feed.event_id
          where not event_feed.fanned_out and event_feed.position > 0 and event_feed.position > ${after}
          order by event_feed.position limit ${most}`)
    }
  })
}) {}
