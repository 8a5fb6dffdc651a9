import type pg from "pg"

/** Puts an integration into a status no request leads to. */
export const setStatus = (pool: pg.Pool, id: string, status: string) =>
  pool.query("update integrations set status = $2 where id = $1", [id, status])

/** Gives every event of a tenant that has none a position in the feed, as the relay does. */
export const placeEvents = (pool: pg.Pool, tenant: string) =>
  pool.query(
    `with placed as (
       insert into event_feed (tenant_id, position, event_id, resource_id, sequence)
       select tenant_id, last + row_number() over (order by entry), event_id, resource_id, sequence
       from outbox, event_positions where tenant_id = $1 returning position, event_id
     ), moved as (update event_positions set last = greatest(last, (select max(position) from placed)))
     delete from outbox where tenant_id = $1 and event_id in (select event_id from placed)`,
    [tenant]
  )

export interface EventRow {
  readonly id: string
  readonly type: string
  readonly resource_id: string
  readonly sequence: number
  readonly data: string
}

/** What was recorded of a resource, its snapshots as they are kept. */
export const eventsOf = async (pool: pg.Pool, resource: string) => {
  const { rows } = await pool.query<EventRow>(
    "select id, type, resource_id, sequence, data::text as data from events where resource_id = $1 order by sequence",
    [resource]
  )
  return rows
}
