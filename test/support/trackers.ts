import type pg from "pg"
import { makeId } from "../../src/layers/postgres/IdGenerator.ts"

/** One row in every table that authorizations, trackers and drives need, as if each had been used. */
export const plantTracker = async (pool: pg.Pool, tenant: string, integration: string, delivery: string) => {
  const unique = makeId("key")
  const plant = (table: string, columns: string, values: string, more: ReadonlyArray<unknown>) =>
    pool.query(`insert into ${table} (tenant_id, ${columns}) values ($1, ${values})`, [tenant, ...more])
  await plant(
    "oauth_states",
    "integration_id, hash, provider, issuer, subject, origin, verifier, expires_at",
    "$2, $3, 'JIRA', 'i', 's', 'o', 'v', now() + interval '1 hour'",
    [integration, unique]
  )
  await plant(
    "pending_grants",
    "integration_id, hash, issuer, subject, sealed, expires_at",
    "$2, $3, 'i', 's', 'x', now() + interval '1 hour'",
    [integration, unique]
  )
  await plant("grants", "integration_id, generation, scopes, access, expires_at", "$2, 1, 's', 'a', now()", [
    integration
  ])
  await plant("webhook_endpoints", "integration_id, key_hash, sealed", "$2, $3, 'x'", [integration, unique])
  await plant(
    "tracker_webhooks",
    "integration_id, key_hash, webhook_id, site_id, expires_at",
    "$2, $3, 1, 's', now()",
    [integration, unique]
  )
  await plant(
    "inbound_webhooks",
    "integration_id, id, identifier, kind, issue_id, issue_key, happened_at, body, status, received_at",
    "$2, $3, $3, 'jira:issue_created', '1', 'A-1', 1, '{}', 'DONE', now()",
    [integration, makeId("whk")]
  )
  await plant(
    "tracked_issues",
    "integration_id, id, external_id, issue_key, project_key, is_deleted, happened_at, created_at, updated_at, sequence",
    "$2, $3, $3, 'A-1', 'A', false, 1, now(), now(), 1",
    [integration, makeId("iss")]
  )
  await plant(
    "redeliveries",
    "integration_id, id, since, until, after_id, last_id, count, created_at, due_at",
    "$2, $3, now(), now(), '', '', 0, now(), now()",
    [integration, makeId("rdl")]
  )
  await plant("delivery_files", "delivery_id, file_id", "$2, 'f'", [delivery])
}
