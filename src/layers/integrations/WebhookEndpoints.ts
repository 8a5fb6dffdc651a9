import { hash, randomBytes } from "node:crypto"
import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { CurrentTenant } from "../../domain/tenancy/Caller.ts"
import type { TenantId } from "../../domain/tenancy/Tenant.ts"
import { makeFairSemaphore } from "../concurrency/FairSemaphore.ts"
import { toRequestError } from "../concurrency/RequestRefusal.ts"
import { Settings } from "../config/Settings.ts"
import { Secrets } from "../secrets/Secrets.ts"

/**
 * A look-up comes before admission, so it waits in a queue of its own. It shares the connections that members are looked
 * up with, and one at a time leaves the other to these: nobody is let in while both are held.
 */
const lookUpLimits = { permits: 1, maxPerKey: 1, maxQueuedPerKey: 256, maxQueued: 1024, timeout: "5 seconds" } as const

/** Whose webhooks come in at an address. */
export interface WebhookEndpoint {
  readonly tenant: TenantId
  readonly integration: string
  readonly keyHash: Buffer
}

const hashOf = (key: string) => hash("sha256", key, "buffer")

export const placeOf = (tenant: string, integration: string, keyHash: Buffer) =>
  JSON.stringify(["webhook_endpoints", tenant, integration, keyHash.toString("hex")])

/** The keys of the addresses that take webhooks: found by their hash, and sealed for who registers an address anew. */
export class WebhookEndpoints extends Effect.Service<WebhookEndpoints>()("layers/WebhookEndpoints", {
  dependencies: [Secrets.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const secrets = yield* Secrets
    const { PUBLIC_URL = "" } = yield* Settings
    const lookUps = makeFairSemaphore(lookUpLimits, toRequestError)

    const issuing = Effect.fnUntraced(function* (integration: string) {
      const tenant = yield* CurrentTenant
      const key = randomBytes(32).toString("base64url")
      const keyHash = hashOf(key)
      const sealed = secrets.seal(placeOf(tenant, integration, keyHash), Buffer.from(key))
      const insert = sql`
        insert into webhook_endpoints (tenant_id, integration_id, key_hash, sealed)
        values (${tenant}, ${integration}, ${keyHash}, ${sealed})`
      return { insert, webhookUrl: `${PUBLIC_URL.replace(/\/+$/, "")}/api/v1/webhooks/${key}` }
    })

    return {
      /** The rows of those that were replaced and have not expired, for who counts them. */
      replaced: (integration: string) =>
        Effect.map(
          CurrentTenant,
          (tenant) => sql`
            select 1 from webhook_endpoints
            where tenant_id = ${tenant} and integration_id = ${integration} and expires_at > now()`
        ),

      /** The first address of an integration that has none. */
      first: (integration: string) =>
        Effect.flatMap(issuing(integration), ({ insert, webhookUrl }) => Effect.as(Effect.orDie(insert), webhookUrl)),

      /** A new address, and what puts it in place of the one before, as parts of another change. */
      rotating: Effect.fnUntraced(function* (integration: string, overlapHours: number) {
        const tenant = yield* CurrentTenant
        const { insert, webhookUrl } = yield* issuing(integration)
        const own = sql`tenant_id = ${tenant} and integration_id = ${integration}`
        const besides = [
          sql`forgotten as (delete from webhook_endpoints where ${own} and expires_at <= now())`,
          sql`retired as (
            update webhook_endpoints set expires_at = now() + make_interval(hours => ${overlapHours}::integer)
            where ${own} and expires_at is null)`,
          sql`issued as (${insert})`
        ]
        return { webhookUrl, besides }
      }),

      /**
       * Whose address has this key, unless it was replaced too long ago. The address of a deleted tenant stays open while
       * another tenant has a webhook registered there. Looking it up is charged to `asking`.
       */
      find: (key: string, asking: string) => {
        const keyHash = hashOf(key)
        const lookUp = Effect.map(
          Effect.orDie(sql<Omit<WebhookEndpoint, "keyHash">>`
            select e.tenant_id as tenant, e.integration_id as integration from webhook_endpoints e
            where e.key_hash = ${keyHash} and (e.expires_at is null or e.expires_at > now())
              and (exists (select from tenants t where t.id = e.tenant_id and t.deleted_at is null)
                or exists (
                  select from tracker_webhooks w join tenants t on t.id = w.tenant_id and t.deleted_at is null
                  where w.key_hash = e.key_hash))`),
          ([row]): WebhookEndpoint | undefined => (row === undefined ? undefined : { ...row, keyHash })
        )
        return lookUps.withPermit([asking], lookUp)
      },

      /** Forgets keys that open nothing any more; tells how many that were. */
      sweep: (most: number) =>
        Effect.orDie(sql<object>`
          delete from webhook_endpoints where ctid = any (array(
            select ctid from webhook_endpoints where expires_at <= now() limit ${most}
          )) returning 1`).pipe(Effect.map((rows) => rows.length))
    }
  })
}) {}
