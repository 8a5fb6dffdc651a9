import * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect } from "effect"
import { type InvoiceLink, pageUrlOf, requirePage, requirePublicUrl } from "../../domain/clientPage/InvoiceLink.ts"
import type { EventType } from "../../domain/events/EventCatalogue.ts"
import type { Invoice } from "../../domain/invoicing/Invoice.ts"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import type { TenantId } from "../../domain/tenancy/Tenant.ts"
import { Settings } from "../infra/config/Settings.ts"
import type { Row } from "../infra/postgres/repository/Columns.ts"
import { currentOrigin, insertEvent } from "../infra/postgres/repository/EventLog.ts"
import { hashOf, makeOneTimeToken } from "../infra/secrets/OneTimeTokens.ts"
import { associatedData } from "../infra/secrets/SealedColumns.ts"
import { Secrets } from "../infra/secrets/Secrets.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { Invoices } from "../invoicing/Invoices.ts"

interface LinkRow {
  readonly hash: Uint8Array | null
  readonly sealed: Uint8Array | null
  readonly createdAt: string
  readonly revokedAt: string | null
  readonly viewedAt: string | null
}

/** The invoice that a token opens. */
export interface OpenedLink {
  readonly tenant: TenantId
  readonly invoice: string
  readonly viewedAt: string | null
}

/** A change of the link of an invoice, and its event. */
interface LinkChange {
  readonly tenant: string
  readonly invoice: string
  readonly type: EventType
  readonly at: string
  /** The data of the event beside the id of the invoice. */
  readonly data: object
  /** A statement that changes the row of the link, or none. */
  readonly change: Fragment
}

/** A row of the archive of a tenant. */
interface ExportedLink extends Row {
  readonly invoice: string
}

const columns = `token_hash as hash, sealed, created_at as "createdAt", revoked_at as "revokedAt", viewed_at as "viewedAt"`

/**
 * The links to the pages of invoices. An invoice has one token at a time. A revoked link stays revoked until it is
 * rotated: nothing else makes a new token for the invoice, no mail either.
 */
export class InvoiceLinks extends Effect.Service<InvoiceLinks>()("layers/InvoiceLinks", {
  dependencies: [Invoices.Default, Secrets.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const invoices = yield* Invoices
    const secrets = yield* Secrets
    const { PUBLIC_URL } = yield* Settings
    const insertCountedEvent = insertEvent(sql, sql.literal("counted"))

    const find = (tenant: string, invoice: string) =>
      Effect.map(
        sql<LinkRow>`
          select ${sql.literal(columns)} from invoice_links where tenant_id = ${tenant} and invoice_id = ${invoice}`,
        ([row]) => row
      )

    const insertNew = (tenant: string, invoice: string, at: string) => {
      const token = makeOneTimeToken()
      const hash = hashOf(token)
      const sealed = secrets.seal(associatedData.invoiceLink({ tenant, invoice, hash }), Buffer.from(token))
      return sql`
        insert into invoice_links (tenant_id, invoice_id, token_hash, sealed, created_at)
        values (${tenant}, ${invoice}, ${hash}, ${sealed}, ${at}::timestamptz)`
    }

    const requireRow = (row: LinkRow | undefined) =>
      row === undefined ? Effect.dieMessage("The link of the invoice was not saved") : Effect.succeed(row)

    /** The link of an issued invoice. The first caller creates it. */
    const findOrCreate = Effect.fnUntraced(function* (invoice: string) {
      const tenant = yield* CurrentTenant
      const found = yield* find(tenant, invoice)
      if (found !== undefined) return found
      const at = new Date().toISOString()
      yield* sql`${insertNew(tenant, invoice, at)} on conflict (tenant_id, invoice_id) do nothing`
      return yield* requireRow(yield* find(tenant, invoice))
    }, Effect.orDie)

    const urlOf = (tenant: string, invoice: string, { hash, sealed }: LinkRow, publicUrl: string) => {
      if (hash === null || sealed === null) return undefined
      const token = secrets.open(associatedData.invoiceLink({ tenant, invoice, hash }), sealed)
      return pageUrlOf(publicUrl, token.toString())
    }

    const toLink = (invoice: Invoice["id"], row: LinkRow, publicUrl: string) =>
      Effect.map(CurrentTenant, (tenant): InvoiceLink => {
        const url = urlOf(tenant, invoice, row, publicUrl)
        const { createdAt, revokedAt, viewedAt } = row
        return {
          invoice,
          ...(url === undefined ? {} : { url }),
          createdAt,
          ...(revokedAt === null ? {} : { revokedAt }),
          ...(viewedAt === null ? {} : { viewedAt })
        }
      })

    /**
     * Changes a link and records the event in one statement. A change that returns no row has no event. Concurrent changes
     * wait for the lock on the link.
     */
    const changeLink = Effect.fnUntraced(function* ({ at, change, data, invoice, tenant, type }: LinkChange) {
      const event = insertCountedEvent({
        tenant,
        type,
        resource: invoice,
        client: sql.literal("counted.client_id"),
        sequence: sql.literal("counted.sequence"),
        at,
        ...(yield* currentOrigin),
        data: { id: invoice, ...data }
      })
      const [row] = yield* sql<LinkRow>`
        with changed as (${change} returning ${sql.literal(columns)}), counted as (
          update invoices set sequence = sequence + 1
          where tenant_id = ${tenant} and id = ${invoice} and exists (select 1 from changed)
          returning sequence, client_id
        ), recorded as (${event})
        select * from changed`
      return row
    })

    const requireIssued = (id: string) =>
      Effect.flatMap(invoices.get(id), (invoice) => Effect.as(requirePage(invoice), invoice.id))

    return {
      get: Effect.fnUntraced(function* (id: string) {
        const invoice = yield* requireIssued(id)
        const publicUrl = yield* requirePublicUrl(PUBLIC_URL)
        return yield* toLink(invoice, yield* findOrCreate(invoice), publicUrl)
      }),

      /** Replaces the token. The one before opens nothing any more. */
      rotate: Effect.fnUntraced(function* (id: string) {
        const tenant = yield* CurrentTenant
        const invoice = yield* requireIssued(id)
        const publicUrl = yield* requirePublicUrl(PUBLIC_URL)
        const changedAt = new Date().toISOString()
        const change = sql`
          ${insertNew(tenant, invoice, changedAt)} on conflict (tenant_id, invoice_id) do update
          set token_hash = excluded.token_hash, sealed = excluded.sealed, created_at = excluded.created_at,
            revoked_at = null`
        const row = yield* Effect.orDie(
          changeLink({ tenant, invoice, type: "invoice.link_rotated", at: changedAt, data: { changedAt }, change })
        )
        return yield* toLink(invoice, yield* requireRow(row), publicUrl)
      }),

      /** Removes the token. Without a link it keeps mails from creating one. */
      revoke: Effect.fnUntraced(function* (id: string) {
        const tenant = yield* CurrentTenant
        const invoice = yield* requireIssued(id)
        const changedAt = new Date().toISOString()
        const change = sql`
          insert into invoice_links as link (tenant_id, invoice_id, created_at, revoked_at)
          values (${tenant}, ${invoice}, ${changedAt}::timestamptz, ${changedAt}::timestamptz)
          on conflict (tenant_id, invoice_id) do update
          set token_hash = null, sealed = null, revoked_at = excluded.revoked_at where link.revoked_at is null`
        yield* Effect.orDie(
          changeLink({ tenant, invoice, type: "invoice.link_revoked", at: changedAt, data: { changedAt }, change })
        )
      }),

      /** The address of the page for a mail, or undefined if the server has no public address or the link is revoked. */
      findUrl: Effect.fnUntraced(function* (invoice: string) {
        if (PUBLIC_URL === undefined) return undefined
        const tenant = yield* CurrentTenant
        return urlOf(tenant, invoice, yield* findOrCreate(invoice), PUBLIC_URL)
      }),

      /** Finds the invoice of a token by one look-up in an index. A deleted tenant has no pages. */
      findByToken: (token: string) =>
        Effect.map(
          Effect.orDie(sql<OpenedLink>`
            select link.tenant_id as tenant, link.invoice_id as invoice, link.viewed_at as "viewedAt"
            from invoice_links link join tenants on tenants.id = link.tenant_id and tenants.deleted_at is null
            where link.token_hash = ${hashOf(token)}`),
          ([link]) => link
        ),

      /** Records the first opening of a page. Returns whether it did. */
      recordView: Effect.fnUntraced(function* ({ invoice, tenant }: OpenedLink) {
        const viewedAt = new Date().toISOString()
        const change = sql`
          update invoice_links set viewed_at = ${viewedAt}::timestamptz
          where tenant_id = ${tenant} and invoice_id = ${invoice} and viewed_at is null`
        const row = yield* changeLink({
          tenant,
          invoice,
          type: "invoice.viewed",
          at: viewedAt,
          data: { viewedAt },
          change
        })
        return row !== undefined
      }),

      /** One page of all links of the tenant, by invoice. It does not contain the tokens. */
      page: (last: ExportedLink | undefined, limit: number) =>
        Effect.flatMap(CurrentTenant, (tenant) =>
          Effect.orDie(sql<ExportedLink>`
            select invoice_id as invoice, created_at as "createdAt", revoked_at as "revokedAt", viewed_at as "viewedAt"
            from invoice_links where tenant_id = ${tenant} and invoice_id > ${last?.invoice ?? ""}
            order by invoice_id limit ${limit}`)
        )
    }
  }).pipe(withSpans("InvoiceLinks"))
}) {}
