import type pg from "pg"

/** Puts so many events of long ago into the database, of which an integration was told, with two attempts each. */
export const plantManyDelivered = async (pool: pg.Pool, tenant: string, integration: string, count: number) => {
  const prefix = `${integration}x`
  await pool.query(
    `insert into events (tenant_id, id, type, resource_id, sequence, occurred_at, data)
     select $1, 'evt_' || $2 || n, 'client.created', 'clnt_' || $2, n, now() - interval '40 days', '{}'
     from generate_series(1, $3::int) n`,
    [tenant, prefix, count]
  )
  await pool.query("delete from outbox where tenant_id = $1", [tenant])
  await pool.query(
    `insert into event_feed (tenant_id, position, event_id, resource_id, sequence, fanned_out)
     select tenant_id, 2000000000 + sequence, id, resource_id, sequence, true from events
     where tenant_id = $1 and resource_id = 'clnt_' || $2`,
    [tenant, prefix]
  )
  await pool.query(
    `insert into deliveries (tenant_id, id, integration_id, event_id, event_type, resource_id, sequence, status, attempts,
       created_at, updated_at)
     select tenant_id, 'dlv_' || $3 || sequence, $2, id, type, resource_id, sequence, 'DELIVERED', 2, now(), now()
     from events where tenant_id = $1 and resource_id = 'clnt_' || $3`,
    [tenant, integration, prefix]
  )
  await pool.query(
    `insert into delivery_attempts (tenant_id, delivery_id, number, attempted_at, outcome)
     select tenant_id, id, number, now(), 'DELIVERED' from deliveries, generate_series(1, 2) number
     where tenant_id = $1 and resource_id = 'clnt_' || $2`,
    [tenant, prefix]
  )
}
