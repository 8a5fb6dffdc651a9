import { createHash, randomBytes } from "node:crypto"
import { Effect, Layer, ManagedRuntime } from "effect"
import type pg from "pg"
import { Settings } from "../../../src/layers/infra/config/Settings.ts"
import { SqlLive } from "../../../src/layers/infra/postgres/connection/PostgresClient.ts"
import { JiraWebhookReconciler } from "../../../src/layers/trackers/jira/JiraWebhookReconciler.ts"
import { encryptWebhookKey, insertAuthorizedIntegration, insertGrant } from "../fixtures/grantRows.ts"
import { captureLogs } from "./logCapture.ts"
import type { Service } from "./service.ts"

/** A reconciler whose rounds the test starts. It logs to `lines`. */
export const startReconciler = (service: Service, lines: Array<string> = []) => {
  const live = JiraWebhookReconciler.Default.pipe(
    Layer.provide(SqlLive),
    Layer.provide(Layer.succeed(Settings, service.settings)),
    Layer.provide(captureLogs(lines))
  )
  const runtime = ManagedRuntime.make(live)
  return {
    reconcileAll: () => runtime.runPromise(Effect.flatMap(JiraWebhookReconciler, ({ reconcileAll }) => reconcileAll)),
    registerNew: () => runtime.runPromise(Effect.flatMap(JiraWebhookReconciler, ({ registerNew }) => registerNew)),
    stop: async () => {
      await runtime.runPromise(Effect.flatMap(JiraWebhookReconciler, ({ releaseLease }) => releaseLease))
      await runtime.dispose()
    }
  }
}

export type Reconciler = ReturnType<typeof startReconciler>

/** Inserts a webhook endpoint and returns its key. */
export const insertEndpoint = async (service: Service, pool: pg.Pool, tenant: string, integration: string) => {
  const key = randomBytes(32).toString("base64url")
  const hash = createHash("sha256").update(key).digest()
  await pool.query(
    "insert into webhook_endpoints (tenant_id, integration_id, key_hash, sealed) values ($1, $2, $3, $4)",
    [tenant, integration, hash, await encryptWebhookKey(service, tenant, integration, hash, key)]
  )
  return key
}

interface ConnectedFields {
  readonly site: string
  readonly jql?: string
  readonly token?: string
}

/** Inserts a tenant with an integration that is connected to a Jira site. */
export const insertConnectedTenant = async (
  service: Service,
  pool: pg.Pool,
  { jql, site, token = "valid" }: ConnectedFields
) => {
  const tenant = await service.newTenant()
  const config = jql === undefined ? {} : { jql }
  const integration = await insertAuthorizedIntegration(pool, tenant, { provider: "JIRA", config })
  await insertGrant(service, pool, { tenant, integration, token, site })
  return { tenant, integration, key: await insertEndpoint(service, pool, tenant, integration) }
}
