import type pg from "pg"
import { makeId } from "../../src/layers/postgres/IdGenerator.ts"

/** Puts an integration into the database, with a secret and a subscription; tells its id. */
export const plantIntegration = async (pool: pg.Pool, tenant: string, client?: string) => {
  const id = makeId("int")
  await pool.query(
    `insert into integrations (tenant_id, id, provider, name, status, is_authorized, config, subscriptions, created_at,
       updated_at, sequence)
     values ($1, $2, 'WEBHOOK', 'Receiver', 'ACTIVE', true, '{"url":"https://example.test/hook"}', '[]', now(), now(), 1)`,
    [tenant, id]
  )
  await plantParts(pool, tenant, id, client)
  return id
}

/** What lies beside an integration. */
export const plantParts = async (pool: pg.Pool, tenant: string, integration: string, client?: string) => {
  await pool.query(
    `insert into integration_secrets (tenant_id, integration_id, generation, sealed) values ($1, $2, 1, 'sealed')
     on conflict do nothing`,
    [tenant, integration]
  )
  await pool.query(
    `insert into subscriptions (tenant_id, id, integration_id, event_type, scope_key, client_id)
     values ($1, $2, $3, 'client.*', 'planted', $4)`,
    [tenant, makeId("sub"), integration, client ?? null]
  )
}

export interface PlantedEvent {
  readonly resource?: string
  readonly sequence?: number
  readonly type?: string
  readonly at?: string
  readonly fannedOut?: boolean
}

const moment = "2026-01-31T00:00:00.000Z"

/** A client, as an event shows it. */
const snapshotOf = (id: string) => ({ id, name: "Planted", media: [], createdAt: moment, updatedAt: moment })

let positions = 1_000_000_000

/** Puts an event into the database that the relay is done with; tells its id. */
export const plantEvent = async (pool: pg.Pool, tenant: string, event: PlantedEvent = {}) => {
  const id = makeId("evt")
  const { at, fannedOut = true, resource = makeId("clnt"), sequence = 1, type = "client.created" } = event
  await pool.query(
    `insert into events (tenant_id, id, type, resource_id, sequence, occurred_at, data)
     values ($1, $2, $3, $4, $5, coalesce($6::timestamptz, now()), $7)`,
    [tenant, id, type, resource, sequence, at, JSON.stringify(snapshotOf(resource))]
  )
  await pool.query("delete from outbox where tenant_id = $1 and event_id = $2", [tenant, id])
  await pool.query(
    `insert into event_feed (tenant_id, position, event_id, resource_id, sequence, fanned_out)
     values ($1, $2, $3, $4, $5, $6)`,
    [tenant, positions++, id, resource, sequence, fannedOut]
  )
  return id
}

export interface PlantedDelivery extends PlantedEvent {
  readonly status?: "WAITING" | "PENDING" | "DELIVERED" | "EXHAUSTED"
  readonly attempts?: number
  readonly lease?: string
  readonly nextAttemptAt?: string
}

/** Puts a delivery of an event of its own into the database, as it is after so many attempts; tells its id. */
export const plantDelivery = async (
  pool: pg.Pool,
  tenant: string,
  integration: string,
  delivery: PlantedDelivery = {}
) => {
  const { at, attempts = 1, lease, nextAttemptAt, status = "DELIVERED", type = "client.created" } = delivery
  const resource = delivery.resource ?? makeId("clnt")
  const event = await plantEvent(pool, tenant, { ...delivery, resource })
  const id = makeId("dlv")
  await pool.query(
    `insert into deliveries (tenant_id, id, integration_id, event_id, event_type, resource_id, sequence, status,
       attempts, next_attempt_at, lease, leased_until, response_status, error, delivered_at, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8::text, $9, $10::timestamptz, $11::text, case when $11::text is null then null else now() end,
       case $8::text when 'DELIVERED' then 204 when 'EXHAUSTED' then 500 end,
       case when $8::text = 'EXHAUSTED' then 'answered 500' end, case when $8::text = 'DELIVERED' then now() end,
       coalesce($12::timestamptz, now()), coalesce($12::timestamptz, now()))`,
    [
      tenant,
      id,
      integration,
      event,
      type,
      resource,
      delivery.sequence ?? 1,
      status,
      attempts,
      nextAttemptAt ?? null,
      lease ?? null,
      at ?? null
    ]
  )
  await pool.query(
    `insert into delivery_attempts (tenant_id, delivery_id, number, attempted_at, outcome, latency_ms, response_status,
       response_body, error)
     select $1, $2, n, coalesce($4::timestamptz, now()), 'FAILED', 12, 500, 'no', 'answered 500' from generate_series(1, $3::int) n`,
    [tenant, id, attempts, at ?? null]
  )
  return id
}
