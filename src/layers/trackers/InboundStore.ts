import { hash } from "node:crypto"
import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Fragment } from "@effect/sql/Statement"
import { Effect } from "effect"
import { prefixOf } from "../../domain/Ids.ts"
import { InboundRequest } from "../../domain/tenancy/RequestContext.ts"
import { InboundWebhookId } from "../../domain/trackers/InboundWebhook.ts"
import type { IssueWebhook } from "../../domain/trackers/IssueWebhook.ts"
import type { InboundKey } from "../infra/nats/InboundStream.ts"
import { makeId } from "../infra/postgres/IdGenerator.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"

interface ReceivedRow extends Nullable<InboundKey> {
  readonly wanting: number
}

type Nullable<A> = { readonly [Name in keyof A]: A[Name] | null }

/** Bounds the size of an index entry. A longer identifier is stored as its hash. */
const maxIdentifierLength = 255
const toIndexable = (identifier: string) =>
  identifier.length > maxIdentifierLength ? `sha256:${hash("sha256", identifier)}` : identifier

const prefix = prefixOf(InboundWebhookId)

/** Saves inbound webhooks. The response to the tracker waits for this and for nothing else. */
export class InboundStore extends Effect.Service<InboundStore>()("layers/InboundStore", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    /**
     * Selects the integrations that receive a webhook. For a webhook that an administrator set up by hand, that is the
     * integration of the URL; otherwise, those that registered one of its webhook ids for this URL. An integration
     * without authorization receives nothing. A paused one still receives.
     */
    const selectRecipients = (
      { integration, isTracker, keyHash, tenant }: InboundRequest["Type"],
      ids: ReadonlyArray<number>
    ) => {
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

    /** Inserts the webhook for up to `count` recipients. Returns the number of all recipients and the new rows. */
    const insert = (recipients: Fragment, identifier: string, webhook: IssueWebhook, body: string, count: number) => {
      const { issue, timestamp, webhookEvent } = webhook
      const ids = Array.from({ length: count }, () => makeId(prefix))
      return sql<ReceivedRow>`
        with wanting as (${recipients}),
        added as (
          insert into inbound_webhooks (tenant_id, id, integration_id, identifier, kind, issue_id, issue_key, happened_at,
            body, status, received_at)
          select wanting.tenant_id, given.id, wanting.id, ${toIndexable(identifier)}, ${webhookEvent}, ${issue.id},
            ${issue.key}, ${timestamp}::bigint, ${body}, 'RECEIVED', now()
          from wanting
          join json_array_elements_text(${JSON.stringify(ids)}::json) with ordinality as given (id, place) using (place)
          on conflict (tenant_id, integration_id, identifier) do nothing
          returning tenant_id as tenant, integration_id as integration, id
        )
        select counted.wanting, added.*
        from (select count(*)::integer as wanting from wanting) counted left join added on true`
    }

    const insertForAll = (
      recipients: Fragment,
      identifier: string,
      webhook: IssueWebhook,
      body: string,
      count: number
    ): Effect.Effect<{ readonly accepted: boolean; readonly added: ReadonlyArray<InboundKey> }, SqlError> =>
      Effect.gen(function* () {
        const rows = yield* insert(recipients, identifier, webhook, body, count)
        const added = rows.flatMap(({ id, integration, tenant }) =>
          id === null || integration === null || tenant === null ? [] : [{ id, integration, tenant }]
        )
        const found = rows[0]?.wanting ?? 0
        if (found <= count) return { accepted: found > 0, added }
        // Nearly every URL belongs to one integration. For more, a second insert adds the missing rows and skips the
        // others.
        const others = yield* insertForAll(recipients, identifier, webhook, body, found)
        return { accepted: true, added: [...added, ...others.added] }
      })

    return {
      /** Saves a webhook. Returns whether any integration receives it, and the new rows. */
      save: (identifier: string, webhook: IssueWebhook, body: string) =>
        Effect.flatMap(InboundRequest, (call) =>
          Effect.orDie(insertForAll(selectRecipients(call, webhook.matchedWebhookIds), identifier, webhook, body, 1))
        )
    }
  }).pipe(withSpans("InboundStore"))
}) {}
