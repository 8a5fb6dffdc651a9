import { hash, randomBytes } from "node:crypto"
import { Effect } from "effect"
import type pg from "pg"
import type { BenchTenant } from "../support/benchTenant.ts"
import { webhookId } from "./webhooks.ts"

/** A Jira integration and the key in its webhook URL. */
export interface JiraIntegration {
  readonly tenant: string
  readonly id: string
  readonly key: string
}

/** Inserts the rows that an authorization and a webhook registration leave, with a known key. */
export const createJiraIntegration = async (client: pg.Client, tenant: BenchTenant): Promise<JiraIntegration> => {
  const id = await tenant.createJira()
  const key = randomBytes(32).toString("base64url")
  const keyHash = hash("sha256", key, "buffer")
  await client.query("update integrations set status = 'ACTIVE', is_authorized = true where id = $1", [id])
  await client.query(
    "insert into webhook_endpoints (tenant_id, integration_id, key_hash, sealed) values ($1, $2, $3, '')",
    [tenant.id, id, keyHash]
  )
  await client.query(
    `insert into tracker_webhooks (tenant_id, integration_id, webhook_id, site_id, key_hash, expires_at)
     values ($1, $2, $3, 'site', $4, now() + interval '30 days')`,
    [tenant.id, id, webhookId, keyHash]
  )
  return { tenant: tenant.id, id, key }
}

export const countUnprocessed = async (client: pg.Client, { id }: JiraIntegration) => {
  const { rows } = await client.query<{ count: number }>(
    "select count(*)::integer from inbound_webhooks where integration_id = $1 and status = 'RECEIVED'",
    [id]
  )
  return rows[0]?.count ?? 0
}

export const waitUntilProcessed = (client: pg.Client, integration: JiraIntegration) =>
  Effect.promise(() => countUnprocessed(client, integration)).pipe(
    Effect.delay("50 millis"),
    Effect.repeat({ until: (unprocessed) => unprocessed === 0 }),
    Effect.asVoid
  )

export const deleteInboundWebhooks = (client: pg.Client, { id }: JiraIntegration) =>
  Effect.promise(() => client.query("delete from inbound_webhooks where integration_id = $1", [id]))
