import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { type InvoiceLink, pageUrlOf, requirePage, requirePublicUrl } from "../../domain/clientPage/InvoiceLink.ts"
import type { EventType } from "../../domain/events/EventCatalogue.ts"
import type { Invoice } from "../../domain/invoicing/Invoice.ts"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import type { TenantId } from "../../domain/tenancy/Tenant.ts"
import { Settings } from "../config/Settings.ts"
import { Invoices } from "../invoicing/Invoices.ts"
import type { Row } from "../postgres/repository/Columns.ts"
import { currentOrigin, insertEvent } from "../postgres/repository/EventLog.ts"
import { hashOf, makeOneTimeToken } from "../secrets/OneTimeTokens.ts"
import { associatedData } from "../secrets/SealedColumns.ts"
import { Secrets } from "../secrets/Secrets.ts"
import { withSpans } from "../telemetry/UseCaseSpans.ts"

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
    const record = insertEvent(sql, sql.literal("counted"))

    const find = (tenant: string, invoice: string) =>
      Effect.map(
        sql<LinkRow>`
          select ${sql.literal(columns)} from invoice_links where tenant_id = ${tenant} and invoice_id = ${invoice}`,
        ([row]) => row
      )

    const insertNew = (tenant: string, invoice: string) => {
      const token = makeOneTimeToken()
      const hash = hashOf(token)
      const sealed = secrets.seal(associatedData.invoiceLink({ tenant, invoice, hash }), Buffer.from(token))
      return sql`
        insert into invoice_links (tenant_id, invoice_id, token_hash, sealed, created_at)
        values (${tenant}, ${invoice}, ${hash}, ${sealed}, now())`
    }

    const requireRow = (row: LinkRow | undefined) =>
      row === undefined ? Effect.dieMessage("The link of the invoice was not saved") : Effect.succeed(row)

    /** The link of an issued invoice. The first caller creates it. */
    const findOrCreate = Effect.fnUntraced(function* (invoice: string) {
      const tenant = yield* CurrentTenant
      const found = yield* find(tenant, invoice)
      if (found !== undefined) return found
      yield* sql`${insertNew(tenant, invoice)} on conflict (tenant_id, invoice_id) do nothing`
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
        const [row] = yield* Effect.orDie(sql<LinkRow>`
          ${insertNew(tenant, invoice)} on conflict (tenant_id, invoice_id) do update
          set token_hash = excluded.token_hash, sealed = excluded.sealed, created_at = now(), revoked_at = null
          returning ${sql.literal(columns)}`)
        return yield* toLink(invoice, yield* requireRow(row), publicUrl)
      }),

      /** Removes the token. Without a link it keeps mails from creating one. */
      revoke: Effect.fnUntraced(function* (id: string) {
        const tenant = yield* CurrentTenant
        const invoice = yield* requireIssued(id)
        yield* Effect.orDie(sql`
          insert into invoice_links as link (tenant_id, invoice_id, created_at, revoked_at)
          values (${tenant}, ${invoice}, now(), now())
          on conflict (tenant_id, invoice_id) do update
          set token_hash = null, sealed = null, revoked_at = coalesce(link.revoked_at, now())`)
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

      /**
       * Records the first opening of a page with its event. Returns whether it did. Concurrent openings wait for the lock
       * on the link, and then find it viewed.
       */
      recordView: Effect.fnUntraced(function* ({ invoice, tenant }: OpenedLink) {
        const viewedAt = new Date().toISOString()
        const event = record({
          tenant,
          type: "invoice.viewed" satisfies EventType,
          resource: invoice,
          client: sql.literal("counted.client_id"),
          sequence: sql.literal("counted.sequence"),
          at: viewedAt,
          ...(yield* currentOrigin),
          data: { id: invoice, viewedAt }
        })
        const inserted = yield* sql<object>`
          with viewed as (
            update invoice_links set viewed_at = ${viewedAt}::timestamptz
            where tenant_id = ${tenant} and invoice_id = ${invoice} and viewed_at is null returning 1
          ), counted as (
            update invoices set sequence = sequence + 1
            where tenant_id = ${tenant} and id = ${invoice} and exists (select 1 from viewed)
            returning sequence, client_id
          ) ${event} returning 1`
        return inserted.length > 0
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
