import type * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { inTransaction } from "../../infra/postgres/connection/Transactions.ts"
import { isUnfinishedSql } from "../DeliveryOrder.ts"
import { deleteAttempts, type RemovalLimits } from "./DeliveryRemoval.ts"

interface Event {
  readonly tenant: string
  readonly id: string
}

/** Position of a scan over events, oldest first. */
export interface EventCursor extends Event {
  readonly occurredAt: string
}

/** An old event, with the number of its scanned deliveries. */
interface OldEvent extends EventCursor {
  readonly deliveries: number
  /** Whether the event has unfinished deliveries, or is not fanned out yet. */
  readonly isKept: boolean
}

/** Maximum of rows that one batch scans and deletes. */
export interface RetentionLimits extends RemovalLimits {
  readonly maxEvents: number
}

export const retentionLimits: RetentionLimits = { maxEvents: 500, maxDeliveries: 1000, maxAttempts: 2000 }

const scanStart: EventCursor = { occurredAt: "-infinity", tenant: "", id: "" }

const cursorOf = ({ id, occurredAt, tenant }: EventCursor): EventCursor => ({ occurredAt, tenant, id })

/** Deletes events older than `days`, batch by batch. The cursor skips events with unfinished deliveries. */
export const makeEventRetention = (sql: SqlClient.SqlClient, days: number, limits = retentionLimits) => {
  const deleteAttemptsOf = deleteAttempts(sql, limits)

  const unfinished = sql.literal(isUnfinishedSql)

  /** `maxDeliveries` bounds the look-ups, so the deliveries of the last event may be incomplete. */
  const scan = (after: EventCursor) => sql<OldEvent>`
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

  /** Locks events and skips those that another janitor has locked. */
  const lockEvents = (events: ReadonlyArray<Event>) => sql<Event>`
    select tenant_id as tenant, id from events where (tenant_id, id) in (${rowsOf(events)}) for update skip locked`

  /** Blocks redelivery during the deletion: a delivery without its event would block its ordering key for ever. */
  const lockDeliveries = (events: ReadonlyArray<Event>) => sql`
    with locked as materialized (select 1 ${deliveriesOf(events)} order by d.id for update of d)
    select count(*) from locked`

  /** Locked events without unfinished deliveries. The locks keep this result valid until the commit. */
  const selectFinished = (events: ReadonlyArray<Event>) => sql<Event>`
    select tenant, id from (${rowsOf(events)}) event where not coalesce((
      select bool_or(${unfinished}) from deliveries where tenant_id = event.tenant and event_id = event.id), false)`

  /** Deletes events with their feed rows and deliveries. Returns false while attempts are left to delete first. */
  const deleteEvents = (old: ReadonlyArray<Event>) =>
    Effect.gen(function* () {
      const locked = yield* lockEvents(old)
      yield* lockDeliveries(locked)
      const events = yield* selectFinished(locked)
      if (!(yield* deleteAttemptsOf(sql`select d.tenant_id, d.id ${deliveriesOf(events)}`))) return false
      yield* sql`delete from events where (tenant_id, id) in (${rowsOf(events)})`
      return true
    }).pipe(inTransaction(sql))

  /** Deletes some deliveries of an event that has more than one batch may delete, unless one is unfinished. */
  const removeSomeDeliveries = (event: Event) =>
    Effect.gen(function* () {
      if ((yield* lockEvents([event])).length === 0 || (yield* selectFinished([event])).length === 0) return false
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
    }).pipe(inTransaction(sql))

  return {
    /** Deletes the next batch. Returns the cursor of its end; undefined at the end of the scan. */
    deleteNextBatch: (after = scanStart) =>
      Effect.gen(function* () {
        const scanned = yield* scan(after)
        const [first] = scanned
        const rows = scanned.reduce((sum, { deliveries }) => sum + Math.max(deliveries, 1), 0)
        const isTruncated = rows >= limits.maxDeliveries
        if (isTruncated && first !== undefined && scanned.length === 1) {
          return !first.isKept && (yield* removeSomeDeliveries(first)) ? after : cursorOf(first)
        }
        const complete = isTruncated ? scanned.slice(0, -1) : scanned
        const old = complete.filter(({ isKept }) => !isKept)
        if (old.length > 0 && !(yield* deleteEvents(old))) return after
        const last = complete.at(-1)
        return last === undefined || (!isTruncated && scanned.length < limits.maxEvents) ? undefined : cursorOf(last)
      }).pipe(Effect.orDie)
  }
}
