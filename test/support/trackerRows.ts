import { randomBytes } from "node:crypto"
import type pg from "pg"
import { makeId } from "../../src/layers/postgres/IdGenerator.ts"

/** Puts issues into the database, called WORLD-0 and so on unless told otherwise; tells the id of the first. */
export const plantIssues = async (pool: pg.Pool, tenant: string, integration: string, count = 1, name = "WORLD") => {
  const ids = Array.from({ length: count }, () => makeId("iss"))
  await pool.query(
    `insert into tracked_issues (tenant_id, id, integration_id, external_id, issue_key, project_key, title, state,
       is_deleted, happened_at, created_at, updated_at, sequence)
     select $1, id, $2, id, $4 || '-' || n - 1, $4, 'Issue ' || n - 1, 'To Do', false, 1000, now(), now(), 1
     from unnest($3::text[]) with ordinality as given (id, n)`,
    [tenant, integration, ids, name]
  )
  return ids[0] ?? ""
}

interface PlantedInbound {
  readonly status?: "RECEIVED" | "DONE" | "STALE" | "FAILED"
  /** When it came in and was worked. */
  readonly at?: string
}

/** Puts a webhook into the database, worked already unless told otherwise; tells its id. */
export const plantInboundRow = async (
  pool: pg.Pool,
  tenant: string,
  integration: string,
  { at = new Date().toISOString(), status = "DONE" }: PlantedInbound = {}
) => {
  const id = makeId("whk")
  await pool.query(
    `insert into inbound_webhooks (tenant_id, id, integration_id, identifier, kind, issue_id, issue_key, happened_at,
       body, status, attempts, error, received_at, processed_at)
     values ($1, $2, $3, $2, 'jira:issue_updated', '1', 'WORLD-0', 1000, '{}', $4, 1,
       case when $4 = 'FAILED' then 'quoted' end, $5, $5)`,
    [tenant, id, integration, status, at]
  )
  return id
}

/** Puts a webhook into the database that was worked already, with the address it came in at; tells its id. */
export const plantInbound = async (pool: pg.Pool, tenant: string, integration: string) => {
  const id = await plantInboundRow(pool, tenant, integration)
  const keyHash = randomBytes(32)
  await pool.query(
    "insert into webhook_endpoints (tenant_id, integration_id, key_hash, sealed) values ($1, $2, $3, 'sealed')",
    [tenant, integration, keyHash]
  )
  await pool.query(
    `insert into tracker_webhooks (tenant_id, integration_id, webhook_id, site_id, key_hash, expires_at)
     values ($1, $2, 1, 'site', $3, now() + interval '30 days') on conflict do nothing`,
    [tenant, integration, keyHash]
  )
  return id
}

/** What an authorization and the registration after it leave behind. */
export const authorize = async (pool: pg.Pool, integration: string, ...webhookIds: ReadonlyArray<number>) => {
  await pool.query("update integrations set status = 'ACTIVE', is_authorized = true where id = $1", [integration])
  await registerAt(pool, integration, integration, ...webhookIds)
}

/** Registers numbers of an integration at the newest address of another. */
export const registerAt = (
  pool: pg.Pool,
  integration: string,
  endpointOf: string,
  ...webhookIds: ReadonlyArray<number>
) =>
  pool.query(
    `insert into tracker_webhooks (tenant_id, integration_id, webhook_id, site_id, key_hash, expires_at)
     select i.tenant_id, i.id, webhook_id, 'site', e.key_hash, now() + interval '30 days'
     from integrations i, webhook_endpoints e, unnest($3::bigint[]) webhook_id
     where i.id = $1 and e.integration_id = $2 and e.expires_at is null`,
    [integration, endpointOf, webhookIds]
  )
