import type pg from "pg"

export interface History {
  readonly tenant: string
  readonly integration: string
  readonly events: number
}

/** Puts events into the database that were delivered long ago. */
export const plantHistory = async (pool: pg.Pool | pg.Client, { events, integration, tenant }: History) => {
  const rows = "generate_series(1, $2::int) n"
  const type = "client.updated"
  await pool.query(
    `insert into events (tenant_id, id, type, resource_id, sequence, occurred_at, data)
     select $1, 'evt_old' || n, '${type}', 'clnt_old' || n / 10, n, now(), '{}' from ${rows}`,
    [tenant, events]
  )
  await pool.query("delete from outbox where tenant_id = $1 and event_id like 'evt_old%'", [tenant])
  await pool.query(
    `insert into event_feed (tenant_id, position, event_id, resource_id, sequence, fanned_out)
     select $1, -n, 'evt_old' || n, 'clnt_old' || n / 10, n, true from ${rows}`,
    [tenant, events]
  )
  await pool.query(
    `insert into deliveries (tenant_id, id, integration_id, event_id, event_type, resource_id, sequence, status, attempts,
       delivered_at, created_at, updated_at)
     select $1, 'dlv_old' || n, $3, 'evt_old' || n, '${type}', 'clnt_old' || n / 10, n, 'DELIVERED', 1, now(), now(), now()
     from ${rows}`,
    [tenant, events, integration]
  )
  await pool.query(
    `insert into delivery_attempts (tenant_id, delivery_id, number, attempted_at, outcome, latency_ms)
     select $1, 'dlv_old' || n, 1, now(), 'DELIVERED', 1 from ${rows}`,
    [tenant, events]
  )
}
