import { hash } from "node:crypto"
import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Fragment } from "@effect/sql/Statement"
import { Effect } from "effect"
import { prefixOf } from "../../domain/Ids.ts"
import { InboundCall } from "../../domain/tenancy/Caller.ts"
import { InboundWebhookId } from "../../domain/tracker/InboundWebhook.ts"
import type { IssueWebhook } from "../../domain/tracker/IssueWebhook.ts"
import type { InboundKey } from "../nats/InboundStream.ts"
import { makeId } from "../postgres/Ids.ts"

interface Received extends Nullable<InboundKey> {
  readonly wanting: number
}

type Nullable<A> = { readonly [Name in keyof A]: A[Name] | null }

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
      const registered = sql`(i.tenant_id, i.id) in (
        select w.tenant_id, w.integration_id from tracker_webhooks w
        where w.key_hash = ${keyHash} and w.webhook_id in (
          select value::bigint from json_array_elements_text(${JSON.stringify([...new Set(ids)])}::json)))`
      const own = sql`i.tenant_id = ${tenant} and i.id = ${integration}`
      return sql`
        select i.tenant_id, i.id, row_number() over () as place
        from integrations i join tenants t on t.id = i.tenant_id and t.deleted_at is null
        where i.status <> 'PENDING_AUTH' and ${isTracker ? registered : own}`
    }

    /** Writes it down for so many of those who want it, and tells how many do and which of the rows are new. */
    const insert = (wanted: Fragment, identifier: string, webhook: IssueWebhook, body: string, count: number) => {
      const { issue, timestamp, webhookEvent } = webhook
      const ids = Array.from({ length: count }, () => makeId(prefix))
      return sql<Received>`
        with wanting as (${wanted}),
        added as (
          insert into inbound_webhooks (tenant_id, id, integration_id, identifier, kind, issue_id, issue_key, happened_at,
            body, status, received_at)
          select wanting.tenant_id, given.id, wanting.id, ${indexable(identifier)}, ${webhookEvent}, ${issue.id},
            ${issue.key}, ${timestamp}::bigint, ${body}, 'RECEIVED', now()
          from wanting
          join json_array_elements_text(${JSON.stringify(ids)}::json) with ordinality as given (id, place) using (place)
          on conflict (tenant_id, integration_id, identifier) do nothing
          returning tenant_id as tenant, integration_id as integration, id
        )
        select counted.wanting, added.*
        from (select count(*)::integer as wanting from wanting) counted left join added on true`
    }

    const write = (
      wanted: Fragment,
      identifier: string,
      webhook: IssueWebhook,
      body: string,
      count: number
    ): Effect.Effect<{ readonly accepted: boolean; readonly added: ReadonlyArray<InboundKey> }, SqlError> =>
      Effect.gen(function* () {
        const rows = yield* insert(wanted, identifier, webhook, body, count)
        const added = rows.flatMap(({ id, integration, tenant }) =>
          id === null || integration === null || tenant === null ? [] : [{ id, integration, tenant }]
        )
        const found = rows[0]?.wanting ?? 0
        if (found <= count) return { accepted: found > 0, added }
        // Nearly always an address is one integration's own. For more it is done again; what is there stays as it is.
        const others = yield* write(wanted, identifier, webhook, body, found)
        return { accepted: true, added: [...added, ...others.added] }
      })

    return {
      /** Whether anybody wants a webhook, and the rows that are new with it. */
      receive: (identifier: string, webhook: IssueWebhook, body: string) =>
        Effect.flatMap(InboundCall, (call) =>
          Effect.orDie(write(wanting(call, webhook.matchedWebhookIds), identifier, webhook, body, 1))
        )
    }
  })
}) {}
