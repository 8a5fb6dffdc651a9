import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { TenantId } from "../../../domain/tenancy/Tenant.ts"
import { associatedData } from "../../infra/secrets/SealedColumns.ts"
import { Secrets } from "../../infra/secrets/Secrets.ts"
import { withSpans } from "../../infra/telemetry/UseCaseSpans.ts"

/** An authorized Jira integration. */
export interface JiraConnection {
  readonly tenant: TenantId
  readonly integration: string
  readonly jql: string | null
  readonly site: string | null
}

/** A webhook that we have registered with Jira. */
export interface JiraWebhook {
  readonly webhookId: number
  readonly site: string
  readonly keyHash: Uint8Array
  readonly expiresAt: string
  /** Whether the endpoint exists and does not expire. */
  readonly isOpen: boolean
}

interface Sealed {
  readonly tenant: string
  readonly integration: string
  readonly keyHash: Uint8Array
  readonly sealed: Uint8Array
}

/** The endpoint that receives the webhooks of Jira. */
export interface JiraWebhookEndpoint {
  readonly key: string
  readonly keyHash: Uint8Array
}

type IntegrationKey = Pick<JiraConnection, "tenant" | "integration">

/** Duration of the lease of the reconciler. */
const leaseDuration = "2 minutes"

/** The webhooks registered with Jira, and their endpoints. */
export class JiraWebhooks extends Effect.Service<JiraWebhooks>()("layers/JiraWebhooks", {
  dependencies: [Secrets.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const secrets = yield* Secrets

    const unseal = (rows: ReadonlyArray<Sealed>): ReadonlyArray<JiraWebhookEndpoint> =>
      rows.map(({ keyHash, sealed, ...row }) => ({
        key: secrets.open(associatedData.webhookKey({ ...row, hash: keyHash }), sealed).toString(),
        keyHash
      }))

    const columns = sql.literal(
      `e.tenant_id as tenant, e.integration_id as integration, e.key_hash as "keyHash", e.sealed`
    )

    /** Includes paused integrations: their inbound webhooks are stored until they resume. */
    const selectConnected = sql.literal(`
      select i.tenant_id as tenant, i.id as integration, i.config ->> 'jql' as jql, g.site_id as site from integrations i
      join tenants t on t.id = i.tenant_id and t.deleted_at is null
      join grants g on g.tenant_id = i.tenant_id and g.integration_id = i.id
      where i.provider = 'JIRA' and i.is_authorized and i.status in ('ACTIVE', 'PAUSED')`)

    return {
      /** Acquires or renews the lease of the reconciler. Returns whether this holder has it. */
      acquireLease: (holder: string) =>
        Effect.orDie(sql<object>`
          insert into leases (name, holder, until)
          values ('trackers', ${holder}, now() + interval ${sql.literal(`'${leaseDuration}'`)})
          on conflict (name) do update set holder = excluded.holder, until = excluded.until
          where leases.until < now() or leases.holder = excluded.holder returning 1`).pipe(
          Effect.map((rows) => rows.length === 1)
        ),

      /** Releases the lease, so that another holder can take over at once. */
      releaseLease: (holder: string) =>
        Effect.orDie(sql`update leases set until = now() where name = 'trackers' and holder = ${holder}`),

      listConnected: Effect.orDie(sql<JiraConnection>`${selectConnected} order by i.tenant_id, i.id`),

      /** Connected integrations without a registered webhook. */
      listUnregistered: Effect.orDie(sql<JiraConnection>`
        ${selectConnected} and not exists (
          select 1 from tracker_webhooks w where w.tenant_id = i.tenant_id and w.integration_id = i.id)
        order by i.tenant_id, i.id`),

      listRegistered: ({ integration, tenant }: IntegrationKey) =>
        Effect.orDie(sql<JiraWebhook>`
          select w.webhook_id as "webhookId", w.site_id as site, w.key_hash as "keyHash", w.expires_at as "expiresAt",
            exists (select 1 from webhook_endpoints e where e.key_hash = w.key_hash and e.expires_at is null) as "isOpen"
          from tracker_webhooks w where w.tenant_id = ${tenant} and w.integration_id = ${integration}
          order by w.expires_at desc`),

      /** The newest endpoint of an integration, if it has one. */
      findEndpoint: ({ integration, tenant }: IntegrationKey) =>
        Effect.orDie(sql<Sealed>`
          select ${columns} from webhook_endpoints e
          where e.tenant_id = ${tenant} and e.integration_id = ${integration} and e.expires_at is null
          order by e.created_at desc limit 1`).pipe(Effect.map((rows) => unseal(rows)[0])),

      /** Endpoints that other integrations have registered with the same Jira site. */
      findOtherEndpoints: (site: string, { integration, tenant }: IntegrationKey) =>
        Effect.orDie(sql<Sealed>`
          select distinct on (e.key_hash) ${columns} from tracker_webhooks w
          join webhook_endpoints e on e.key_hash = w.key_hash and e.expires_at is null
          where w.site_id = ${site} and (w.tenant_id, w.integration_id) <> (${tenant}, ${integration})
          order by e.key_hash limit 5`).pipe(Effect.map(unseal)),

      /** The subset of webhook ids of a Jira site that belong to an integration. */
      findOwnedIds: (site: string, ids: ReadonlyArray<number>) =>
        Effect.orDie(sql<{ id: number }>`
          select webhook_id as id from tracker_webhooks
          where site_id = ${site} and webhook_id in (
            select id::bigint from json_array_elements_text(${JSON.stringify(ids)}::json) as given (id))`).pipe(
          Effect.map((rows) => new Set(rows.map(({ id }) => Number(id))))
        ),

      /** Saves a registration and replaces any older one. Returns whether the integration still exists. */
      save: (
        { integration, tenant }: IntegrationKey,
        site: string,
        webhookId: number,
        keyHash: Uint8Array,
        expiresAt: number
      ) =>
        Effect.orDie(sql<object>`
          with gone as (
            delete from tracker_webhooks where tenant_id = ${tenant} and integration_id = ${integration}
              and webhook_id <> ${webhookId}
          )
          insert into tracker_webhooks (tenant_id, integration_id, webhook_id, site_id, key_hash, expires_at)
          select tenant_id, id, ${webhookId}, ${site}, ${keyHash}, ${new Date(expiresAt).toISOString()}::timestamptz from integrations
          where tenant_id = ${tenant} and id = ${integration}
          on conflict (tenant_id, integration_id, webhook_id) do update
          set site_id = excluded.site_id, key_hash = excluded.key_hash, expires_at = excluded.expires_at
          returning 1`).pipe(Effect.map((rows) => rows.length === 1)),

      remove: ({ integration, tenant }: IntegrationKey) =>
        Effect.orDie(sql`delete from tracker_webhooks where tenant_id = ${tenant} and integration_id = ${integration}`)
    }
  }).pipe(withSpans("JiraWebhooks"))
}) {}
