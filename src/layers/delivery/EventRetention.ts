import type * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { atomically } from "../postgres/connection/Transaction.ts"
import { deleteAttempts, type RemovalLimits } from "./DeliveryRemoval.ts"

interface Event {
  readonly tenant: string
  readonly id: string
}

/** Where a walk over events is, the oldest first. */
export interface EventPlace extends Event {
  readonly occurredAt: string
}

/** An old event, with as many of its deliveries as were looked at. */
interface OldEvent extends EventPlace {
  readonly deliveries: number
  /** Whether a receiver still waits for it. */
  readonly isKept: boolean
}

/** What a batch looks at and removes at most. */
export interface RetentionLimits extends RemovalLimits {
  readonly maxEvents: number
}

export const retentionLimits: RetentionLimits = { maxEvents: 500, maxDeliveries: 1000, maxAttempts: 2000 }

const beginning: EventPlace = { occurredAt: "-infinity", tenant: "", id: "" }

const placeOf = ({ id, occurredAt, tenant }: EventPlace): EventPlace => ({ occurredAt, tenant, id })

/** Forgets events that are older than so many days, batch by batch. Those that are kept longer are passed, not read again. */
export const makeEventRetention = (sql: SqlClient.SqlClient, days: number, limits = retentionLimits) => {
  const deleteAttemptsOf = deleteAttempts(sql, limits)

  const unfinished = sql.literal("status in ('WAITING', 'PENDING')")

  /** The limit ends the look-ups, whatever the number of deliveries: the last event may be seen in part. */
  const look = (after: EventPlace) => sql<OldEvent>`
    with looked as materialized (
      select event.*, delivery.status from (
        select tenant_id, id, occurred_at from events
        where occurred_at < now() - make_interval(days => ${days}) and occurred_at >= ${after.occurredAt}::timestamptz
          and (occurred_at, tenant_id, id) > (${after.occurredAt}::timestamptz, ${after.tenant}, ${after.id})
        order by occurred_at, tenant_id, id limit ${limits.maxEvents}
      ) event
      left join lateral (
        select status from deliveries where tenant_id = event.tenant_id and event_id = event.id
      ) delivery on true
      limit ${limits.maxDeliveries}
    )
    select tenant_id as tenant, id, occurred_at as "occurredAt", count(status) as deliveries,
      coalesce(bool_or(${unfinished}), false)
      or not coalesce((select fanned_out from event_feed f where f.tenant_id = l.tenant_id and f.event_id = l.id), false)
      or exists (select 1 from outbox o where o.tenant_id = l.tenant_id and o.event_id = l.id) as "isKept"
    from looked l group by tenant_id, id, occurred_at order by occurred_at, tenant_id, id`

  const rowsOf = (events: ReadonlyArray<Event>) => {
    const keys = events.map(({ id, tenant }) => ({ tenant, id }))
    return sql`select tenant, id from json_to_recordset(${JSON.stringify(keys)}::json) as event (tenant text, id text)`
  }
  const deliveriesOf = (events: ReadonlyArray<Event>) => sql`
    from (${rowsOf(events)}) event join deliveries d on d.tenant_id = event.tenant and d.event_id = event.id`

  /** Those that no other copy is at. */
  const lockEvents = (events: ReadonlyArray<Event>) => sql<Event>`
    select tenant_id as tenant, id from events where (tenant_id, id) in (${rowsOf(events)}) for update skip locked`

  /** Nobody may put a delivery back while its event goes: the lane would wait for it for ever. */
  const lockDeliveries = (events: ReadonlyArray<Event>) => sql`
    with locked as materialized (select 1 ${deliveriesOf(events)} order by d.id for update of d)
    select count(*) from locked`

  /** Those that have nothing to be sent, now that this cannot change any more. */
  const finishedOf = (events: ReadonlyArray<Event>) => sql<Event>`
    select tenant, id from (${rowsOf(events)}) event where not coalesce((
      select bool_or(${unfinished}) from deliveries where tenant_id = event.tenant and event_id = event.id), false)`

  /** Deletes events with their places in the feed and their deliveries; tells whether no attempt is left to be deleted first. */
  const forget = (old: ReadonlyArray<Event>) =>
    Effect.gen(function* () {
      const locked = yield* lockEvents(old)
      yield* lockDeliveries(locked)
      const events = yield* finishedOf(locked)
      if (!(yield* deleteAttemptsOf(sql`select d.tenant_id, d.id ${deliveriesOf(events)}`))) return false
      yield* sql`delete from events where (tenant_id, id) in (${rowsOf(events)})`
      return true
    }).pipe(atomically(sql))

  /** For an event with more deliveries than one batch removes: some of them, unless one is not finished. */
  const removeSomeDeliveries = (event: Event) =>
    Effect.gen(function* () {
      if ((yield* lockEvents([event])).length === 0 || (yield* finishedOf([event])).length === 0) return false
      const rows = yield* sql<{ id: string }>`
        with few as materialized (
          select ctid from deliveries where tenant_id = ${event.tenant} and event_id = ${event.id}
          limit ${limits.maxDeliveries}
        )
        select id from deliveries where ctid = any (array(select ctid from few)) and not ${unfinished}
        order by id for update`
      const ids = sql`
        select ${event.tenant}, json_array_elements_text(${JSON.stringify(rows.map(({ id }) => id))}::json)`
      if (yield* deleteAttemptsOf(ids)) yield* sql`delete from deliveries where (tenant_id, id) in (${ids})`
      return rows.length > 0
    }).pipe(atomically(sql))

  return {
    /** Forgets what it can of the next events; tells where that ended, or nothing at the end of the walk. */
    step: (after = beginning) =>
      Effect.gen(function* () {
        const seen = yield* look(after)
        const [first] = seen
        const rows = seen.reduce((sum, { deliveries }) => sum + Math.max(deliveries, 1), 0)
        const isCut = rows >= limits.maxDeliveries
        if (isCut && first !== undefined && seen.length === 1) {
          return !first.isKept && (yield* removeSomeDeliveries(first)) ? after : placeOf(first)
        }
        const whole = isCut ? seen.slice(0, -1) : seen
        const old = whole.filter(({ isKept }) => !isKept)
        if (old.length > 0 && !(yield* forget(old))) return after
        const last = whole.at(-1)
        return last === undefined || (!isCut && seen.length < limits.maxEvents) ? undefined : placeOf(last)
      }).pipe(Effect.orDie)
  }
}
