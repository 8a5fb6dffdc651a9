import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { TenantId } from "../../../domain/tenancy/Tenant.ts"
import { Secrets } from "../../secrets/Secrets.ts"

/** An integration with a tracker that somebody has authorized. */
export interface Connected {
  readonly tenant: TenantId
  readonly integration: string
  readonly jql: string | null
  readonly site: string | null
}

export interface Kept {
  readonly webhookId: number
  readonly site: string
  readonly keyHash: Uint8Array
  readonly expiresAt: string
  /** Whether what comes in there finds somebody, and will go on to. */
  readonly isOpen: boolean
}

interface Sealed {
  readonly tenant: string
  readonly integration: string
  readonly keyHash: Uint8Array
  readonly sealed: Uint8Array
}

/** Where a tracker's webhooks are to come in. */
export interface Endpoint {
  readonly key: string
  readonly keyHash: Uint8Array
}

type Place = Pick<Connected, "tenant" | "integration">

/** How long nobody else looks after trackers when whoever did was last heard of. */
const term = "2 minutes"

const placeOf = ({ integration, keyHash, tenant }: Sealed) =>
  JSON.stringify(["webhook_endpoints", tenant, integration, Buffer.from(keyHash).toString("hex")])

/** What is registered with trackers, and where that leads. */
export class TrackerWebhooks extends Effect.Service<TrackerWebhooks>()("layers/TrackerWebhooks", {
  dependencies: [Secrets.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const secrets = yield* Secrets

    const opened = (rows: ReadonlyArray<Sealed>): ReadonlyArray<Endpoint> =>
      rows.map((row) => ({ key: secrets.open(placeOf(row), row.sealed).toString(), keyHash: row.keyHash }))

    const columns = sql.literal(
      `e.tenant_id as tenant, e.integration_id as integration, e.key_hash as "keyHash", e.sealed`
    )

    /** Paused ones are among them: what their trackers tell is kept until they go on. */
    const connected = sql.literal(`
      select i.tenant_id as tenant, i.id as integration, i.config ->> 'jql' as jql, g.site_id as site from integrations i
      join tenants t on t.id = i.tenant_id and t.deleted_at is null
      join grants g on g.tenant_id = i.tenant_id and g.integration_id = i.id
      where i.provider = 'JIRA' and i.is_authorized and i.status in ('ACTIVE', 'PAUSED')`)

    return {
      /** Whether this holder looks after trackers; it does from now on if nobody else does. */
      lead: (holder: string) =>
        Effect.orDie(sql<object>`
          insert into leases (name, holder, until)
          values ('trackers', ${holder}, now() + interval ${sql.literal(`'${term}'`)})
          on conflict (name) do update set holder = excluded.holder, until = excluded.until
          where leases.until < now() or leases.holder = excluded.holder returning 1`).pipe(
          Effect.map((rows) => rows.length === 1)
        ),

      /** Lets another lead at once. */
      resign: (holder: string) =>
        Effect.orDie(sql`update leases set until = now() where name = 'trackers' and holder = ${holder}`),

      connected: Effect.orDie(sql<Connected>`${connected} order by i.tenant_id, i.id`),

      /** Those of them for whom nothing is registered. */
      unregistered: Effect.orDie(sql<Connected>`
        ${connected} and not exists (
          select 1 from tracker_webhooks w where w.tenant_id = i.tenant_id and w.integration_id = i.id)
        order by i.tenant_id, i.id`),

      keptOf: ({ integration, tenant }: Place) =>
        Effect.orDie(sql<Kept>`
          select w.webhook_id as "webhookId", w.site_id as site, w.key_hash as "keyHash", w.expires_at as "expiresAt",
            exists (select 1 from webhook_endpoints e where e.key_hash = w.key_hash and e.expires_at is null) as "isOpen"
          from tracker_webhooks w where w.tenant_id = ${tenant} and w.integration_id = ${integration}
          order by w.expires_at desc`),

      /** The newest endpoint of an integration, if it has one. */
      endpointOf: ({ integration, tenant }: Place) =>
        Effect.orDie(sql<Sealed>`
          select ${columns} from webhook_endpoints e
          where e.tenant_id = ${tenant} and e.integration_id = ${integration} and e.expires_at is null
          order by e.created_at desc limit 1`).pipe(Effect.map((rows) => opened(rows)[0])),

      /** The endpoints that other integrations have registered with a site. */
      othersAt: (site: string, { integration, tenant }: Place) =>
        Effect.orDie(sql<Sealed>`
          select distinct on (e.key_hash) ${columns} from tracker_webhooks w
          join webhook_endpoints e on e.key_hash = w.key_hash and e.expires_at is null
          where w.site_id = ${site} and (w.tenant_id, w.integration_id) <> (${tenant}, ${integration})
          order by e.key_hash limit 5`).pipe(Effect.map(opened)),

      /** Those of some webhooks of a site that somebody has. */
      takenAt: (site: string, ids: ReadonlyArray<number>) =>
        Effect.orDie(sql<{ id: number }>`
          select webhook_id as id from tracker_webhooks
          where site_id = ${site} and webhook_id in (
            select id::bigint from json_array_elements_text(${JSON.stringify(ids)}::json) as given (id))`).pipe(
          Effect.map((rows) => new Set(rows.map(({ id }) => Number(id))))
        ),

      /** Keeps what was registered instead of whatever was before; tells whether the integration is still there. */
      keep: ({ integration, tenant }: Place, site: string, webhookId: number, keyHash: Uint8Array, expiresAt: number) =>
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

      forget: ({ integration, tenant }: Place) =>
        Effect.orDie(sql`delete from tracker_webhooks where tenant_id = ${tenant} and integration_id = ${integration}`)
    }
  })
}) {}
