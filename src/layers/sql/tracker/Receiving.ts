import { hash } from "node:crypto"
import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { prefixOf } from "../../../domain/Ids.ts"
import { InboundCall } from "../../../domain/tenancy/Caller.ts"
import { InboundWebhookId } from "../../../domain/tracker/InboundWebhook.ts"
import type { IssueWebhook } from "../../../domain/tracker/IssueWebhook.ts"
import { makeId } from "../../Ids.ts"

/** Where a webhook that came in lies. */
export interface InboundKey {
  readonly tenant: string
  readonly integration: string
  readonly id: string
}

interface Wanting {
  readonly tenant: string
  readonly integration: string
}

/** An index takes no more than this of a text; a longer one is known by its hash. */
const longestIdentifier = 255
const indexable = (identifier: string) =>
  identifier.length > longestIdentifier ? `sha256:${hash("sha256", identifier)}` : identifier

const prefix = prefixOf(InboundWebhookId)

/** Writes webhooks down as they come in, which is all that is done before they are answered. */
export class Receiving extends Effect.Service<Receiving>()("layers/Receiving", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    /**
     * The integrations a webhook is for: one whose administrator sends it himself, or those that registered any of its
     * numbers at this address. Before its authorization an integration wants nothing; a pause does not keep it from it.
     */
    const wanting = ({ integration, isTracker, keyHash, tenant }: InboundCall["Type"], ids: ReadonlyArray<number>) => {
      const registered = sql`exists (
        select 1 from tracker_webhooks w
        where w.tenant_id = i.tenant_id and w.integration_id = i.id and w.key_hash = ${keyHash}
          and w.webhook_id in (select value::bigint from json_array_elements_text(${JSON.stringify([...new Set(ids)])}::json)))`
      const own = sql`i.tenant_id = ${tenant} and i.id = ${integration}`
      const candidates = sql`(i.tenant_id, i.id) in (
        select tenant_id, integration_id from tracker_webhooks where key_hash = ${keyHash})`
      return sql<Wanting>`
        select i.tenant_id as tenant, i.id as integration
        from integrations i join tenants t on t.id = i.tenant_id and t.deleted_at is null
        where i.status <> 'PENDING_AUTH' and ${isTracker ? sql`${candidates} and ${registered}` : own}`
    }

    /** Those that were not there yet. */
    const insert = (rows: ReadonlyArray<InboundKey>, identifier: string, webhook: IssueWebhook, body: string) => {
      const { issue, timestamp, webhookEvent } = webhook
      return sql<InboundKey>`
        insert into inbound_webhooks (tenant_id, id, integration_id, identifier, kind, issue_id, issue_key, happened_at,
          body, status, received_at)
        select given.tenant, given.id, given.integration, ${indexable(identifier)}, ${webhookEvent}, ${issue.id},
          ${issue.key}, ${timestamp}::bigint, ${body}, 'RECEIVED', now()
        from json_to_recordset(${JSON.stringify(rows)}::json) as given (tenant text, id text, integration text)
        on conflict (tenant_id, integration_id, identifier) do nothing
        returning tenant_id as tenant, integration_id as integration, id`
    }

    return {
      /** Whether anybody wants a webhook, and the rows that are new with it. */
      receive: (identifier: string, webhook: IssueWebhook, body: string) =>
        Effect.gen(function* () {
          const found = yield* wanting(yield* InboundCall, webhook.matchedWebhookIds)
          const rows = found.map((one) => ({ ...one, id: makeId(prefix) }))
          const added = rows.length === 0 ? [] : yield* insert(rows, identifier, webhook, body)
          return { accepted: rows.length > 0, added }
        }).pipe(Effect.orDie)
    }
  })
}) {}
