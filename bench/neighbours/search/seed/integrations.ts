import { hash } from "node:crypto"
import { endpointKey, type Pools } from "../pools.ts"
import { id, series, setting, sizesOf, tenant, text } from "./sql.ts"

const keyHash = hash("sha256", endpointKey, "hex")
const jira = id("int_jira", 0)
const webhook = setting("webhook")
const yesterday = "now() - interval '1 day'"

const insertIntegrations = (label: string, size: number, provider: string, status: string, config = {}) => `
  insert into all_integrations (tenant_id, id, provider, name, status, is_authorized, config, subscriptions, created_at,
    updated_at, sequence)
  select ${tenant}, ${id(`int_${label}`)}, '${provider}', 'Integration ' || n, '${status}', true,
    '${JSON.stringify(config)}', '[]', now(), now(), 1
  from ${series(size)}`

/** A URL that is never called. */
const closedPort = { url: "http://127.0.0.1:9/hook" }

/** Integrations, with the issues and webhooks of a tracker. */
export const makeIntegrationStatements = (pools: Pools) => {
  const sizeOf = sizesOf(pools)
  return [
    insertIntegrations("jira", 1, "JIRA", "ACTIVE"),
    insertIntegrations("spare", sizeOf("spareIntegration"), "WEBHOOK", "ACTIVE", closedPort),
    insertIntegrations("paused", sizeOf("pausedIntegration"), "WEBHOOK", "PAUSED", closedPort),
    insertIntegrations("pending", sizeOf("pendingIntegration"), "JIRA", "PENDING_AUTH"),
    `insert into webhook_endpoints (tenant_id, integration_id, key_hash, sealed)
     values (${tenant}, ${jira}, '\\x${keyHash}', '')`,
    `insert into tracker_webhooks (tenant_id, integration_id, webhook_id, site_id, key_hash, expires_at)
     values (${tenant}, ${jira}, 1000, 'site', '\\x${keyHash}', now() + interval '30 days')`,
    `insert into tracked_issues (tenant_id, id, integration_id, external_id, issue_key, project_key, title, state,
       is_deleted, happened_at, created_at, updated_at, sequence)
     select ${tenant}, ${id("iss_issue")}, ${jira}, 'i' || n, 'P' || n / 20 || '-' || n % 20, 'P' || n / 20, '${text}',
       'To Do', false, 1000, now(), now(), 1
     from ${series(sizeOf("issue"))}`,
    `insert into inbound_webhooks (tenant_id, id, integration_id, identifier, kind, issue_id, issue_key, happened_at, body,
       status, attempts, received_at, processed_at)
     select ${tenant}, ${id("whk_inbound")}, ${jira}, 'old' || n, 'jira:issue_updated', 'i' || n, 'P1-1', 1000, '{}',
       'DONE', 1, ${yesterday}, ${yesterday}
     from ${series(sizeOf("inbound"))}`
  ]
}

/** Events that were delivered to the webhook integration long ago. */
export const makeHistoryStatements = (pools: Pools) => {
  const rows = series(sizesOf(pools)("event"))
  const resource = id("clnt_old", "n / 10")
  return [
    `insert into events (tenant_id, id, type, resource_id, sequence, occurred_at, data)
     select ${tenant}, ${id("evt_old")}, 'client.updated', ${resource}, n, ${yesterday},
       json_build_object('name', 'Nordwind', 'description', repeat('${text}', 5))
     from ${rows}`,
    `insert into event_feed (tenant_id, position, event_id, resource_id, sequence, fanned_out, type)
     select ${tenant}, -n, ${id("evt_old")}, ${resource}, n, true, 'client.updated' from ${rows}`,
    `insert into deliveries (tenant_id, id, integration_id, event_id, event_type, resource_id, sequence, status, attempts,
       response_status, delivered_at, created_at, updated_at)
     select ${tenant}, ${id("dlv_old")}, ${webhook}, ${id("evt_old")}, 'client.updated', ${resource}, n, 'DELIVERED', 1,
       200, ${yesterday}, ${yesterday}, ${yesterday}
     from ${rows}`,
    `insert into delivery_attempts (tenant_id, delivery_id, number, attempted_at, outcome, latency_ms)
     select ${tenant}, ${id("dlv_old")}, 1, ${yesterday}, 'DELIVERED', 1 from ${rows}`
  ]
}
