import { hash, randomBytes } from "node:crypto"
import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import type { TenantId } from "../../domain/tenancy/Tenant.ts"
import { standingRequests } from "../infra/concurrency/FairQueues.ts"
import { type FairSemaphoreLimits, makeFairSemaphore } from "../infra/concurrency/FairSemaphore.ts"
import { makeToRequestError } from "../infra/concurrency/RequestRejection.ts"
import { Settings } from "../infra/config/Settings.ts"
import { deleteUpTo } from "../infra/postgres/Batches.ts"
import { associatedData } from "../infra/secrets/SealedColumns.ts"
import { Secrets } from "../infra/secrets/Secrets.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"

/**
 * A look-up happens before admission, so it has its own queue. It shares two connections with the look-up of members,
 * which every request needs. One permit leaves the other connection to them.
 */
const lookupLimits: FairSemaphoreLimits = {
  permits: 1,
  maxPerKey: 1,
  maxQueuedPerKey: 256,
  maxQueued: 1024,
  standing: standingRequests,
  timeout: "5 seconds"
}

/** The integration that receives webhooks at a URL. */
export interface InboundEndpoint {
  readonly tenant: TenantId
  readonly integration: string
  readonly keyHash: Buffer
}

const hashOf = (key: string) => hash("sha256", key, "buffer")

/** Secret keys of the webhook URLs. Look-ups use their hash. The encrypted key serves to register the URL again. */
export class InboundEndpoints extends Effect.Service<InboundEndpoints>()("layers/InboundEndpoints", {
  dependencies: [Secrets.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const secrets = yield* Secrets
    const { PUBLIC_URL = "" } = yield* Settings
    const lookupSemaphore = makeFairSemaphore(lookupLimits, makeToRequestError("webhook URLs"))

    const prepareEndpoint = Effect.fnUntraced(function* (integration: string) {
      const tenant = yield* CurrentTenant
      const key = randomBytes(32).toString("base64url")
      const keyHash = hashOf(key)
      const sealed = secrets.seal(associatedData.webhookKey({ tenant, integration, hash: keyHash }), Buffer.from(key))
      const insert = sql`
        insert into webhook_endpoints (tenant_id, integration_id, key_hash, sealed)
        values (${tenant}, ${integration}, ${keyHash}, ${sealed})`
      return { insert, webhookUrl: `${PUBLIC_URL.replace(/\/+$/, "")}/api/v1/webhooks/${key}` }
    })

    return {
      /** Query for the replaced endpoints that have not expired, for a quota count. */
      replacedQuery: (integration: string) =>
        Effect.map(
          CurrentTenant,
          (tenant) => sql`
            select 1 from webhook_endpoints
            where tenant_id = ${tenant} and integration_id = ${integration} and expires_at > now()`
        ),

      /** Issues the first webhook URL of an integration. */
      issueFirst: (integration: string) =>
        Effect.flatMap(prepareEndpoint(integration), ({ insert, webhookUrl }) =>
          Effect.as(Effect.orDie(insert), webhookUrl)
        ),

      /** A new webhook URL and the CTEs that store it within another statement. The current URL expires after `overlapHours`. */
      prepareRotation: Effect.fnUntraced(function* (integration: string, overlapHours: number) {
        const tenant = yield* CurrentTenant
        const { insert, webhookUrl } = yield* prepareEndpoint(integration)
        const isOwn = sql`tenant_id = ${tenant} and integration_id = ${integration}`
        const extraCtes = [
          sql`forgotten as (delete from webhook_endpoints where ${isOwn} and expires_at <= now())`,
          sql`retired as (
            update webhook_endpoints set expires_at = now() + make_interval(hours => ${overlapHours}::integer)
            where ${isOwn} and expires_at is null)`,
          sql`issued as (${insert})`
        ]
        return { webhookUrl, extraCtes }
      }),

      /**
       * Finds the endpoint of a key that has not expired. The endpoint of a deleted tenant stays open while another tenant
       * has registered a webhook with it. The look-up counts against the queue limit of `callerKey`.
       */
      find: (key: string, callerKey: string) => {
        const keyHash = hashOf(key)
        const findByHash = Effect.map(
          Effect.orDie(sql<Omit<InboundEndpoint, "keyHash">>`
            select e.tenant_id as tenant, e.integration_id as integration from webhook_endpoints e
            where e.key_hash = ${keyHash} and (e.expires_at is null or e.expires_at > now())
              and (exists (select from tenants t where t.id = e.tenant_id and t.deleted_at is null)
                or exists (
                  select from tracker_webhooks w join tenants t on t.id = w.tenant_id and t.deleted_at is null
                  where w.key_hash = e.key_hash))`),
          ([row]): InboundEndpoint | undefined => (row === undefined ? undefined : { ...row, keyHash })
        )
        return lookupSemaphore.withPermit([callerKey], findByHash)
      },

      /** Deletes expired keys. Returns how many. */
      sweep: (max: number) => Effect.orDie(deleteUpTo(sql, max, "webhook_endpoints", sql`expires_at <= now()`))
    }
  }).pipe(withSpans("InboundEndpoints"))
}) {}
