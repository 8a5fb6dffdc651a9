import * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect } from "effect"
import { draftOf } from "../../domain/invoicing/draft/InvoiceDraft.ts"
import { type CreateInvoice, Invoice, type invoiceSorts } from "../../domain/invoicing/Invoice.ts"
import type { InvoiceStatus } from "../../domain/invoicing/InvoiceStatus.ts"
import type { PageRequest } from "../../domain/Paging.ts"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import { Contracts } from "../contracting/Contracts.ts"
import { byAge, byTime, containsText, hasTrigram } from "../infra/postgres/repository/Keyset.ts"
import type { ListQuery } from "../infra/postgres/repository/ListPageReader.ts"
import { makeResource } from "../infra/postgres/repository/Resource.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"

interface Filter extends ListQuery {
  readonly contractId?: string | undefined
  readonly clientId?: string | undefined
  readonly status?: InvoiceStatus | undefined
  readonly overdue?: boolean | undefined
  /** Days in the time zone of the tenant. */
  readonly issuedFrom?: string | undefined
  readonly issuedTo?: string | undefined
  readonly number?: string | undefined
}

const issue = "coalesce(this.issued_at, 'infinity'::timestamptz)"

/** The same as `balanceOf`. */
const balance =
  "case this.status when 'VOID' then 0 " +
  "else greatest(this.total_minor - this.paid_minor - this.credited_minor - this.written_off_minor, 0) end"

/** Repository of invoices. Changes neither their lines nor their status. */
export class Invoices extends Effect.Service<Invoices>()("layers/Invoices", {
  dependencies: [Contracts.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const contracts = yield* Contracts
    const invoices = yield* makeResource({
      name: "invoice",
      table: "invoices",
      entity: Invoice,
      relations: ["contract"],
      computed: { balanceMinor: balance },
      clientOf: ({ contract }, tenant) =>
        sql`(select client_id from contracts where tenant_id = ${tenant} and id = ${contract})`,
      sorts: {
        createdAt: byAge,
        issuedAt: byTime("issued_at"),
        dueAt: byTime("due_at")
      } satisfies Record<(typeof invoiceSorts)[number], unknown>
    })

    /** The start of a day of the tenant, or of the day after. */
    const startOfDay = (tenant: string, day: string, daysLater: 0 | 1) => sql`(
      select (${day}::date + ${sql.literal(String(daysLater))})::timestamp at time zone time_zone
      from tenants where id = ${tenant})`

    const searchFilter = (tenant: string, query: string) =>
      hasTrigram(query) ? searchInIndexes(tenant, query) : searchInRows(tenant, query)

    /** Looks at one invoice after the other, in the order of the list. */
    const searchInRows = (tenant: string, query: string) => sql`(
      ${containsText(sql, "this.invoice_number", query)} or exists (
        select 1 from clients where tenant_id = ${tenant} and id = this.client_id
          and ${containsText(sql, "clients.name", query)}))`

    const searchInIndexes = (tenant: string, query: string) => sql`this.id = any(array(
        select id from invoices where tenant_id = ${tenant} and ${containsText(sql, "invoice_number", query)}
        union
        select invoices.id from clients
        join invoices on invoices.tenant_id = clients.tenant_id and invoices.client_id = clients.id
        where clients.tenant_id = ${tenant} and ${containsText(sql, "clients.name", query)}))`

    const conditionOf = (tenant: string, { clientId, issuedFrom, issuedTo, number, overdue, q }: Filter) => {
      const conditions = [
        ...(overdue === undefined ? [] : [sql.literal(`(status = 'FINALIZED' and due_at < now()) is ${overdue}`)]),
        ...(clientId === undefined ? [] : [sql`this.client_id = ${clientId}`]),
        ...(number === undefined ? [] : [sql`this.invoice_number = ${number}`]),
        ...(issuedFrom === undefined
          ? []
          : [sql`${sql.literal(issue)} >= ${startOfDay(tenant, issuedFrom, 0)} and this.issued_at is not null`]),
        ...(issuedTo === undefined ? [] : [sql`${sql.literal(issue)} < ${startOfDay(tenant, issuedTo, 1)}`]),
        ...(q === undefined ? [] : [searchFilter(tenant, q)])
      ]
      return conditions.reduce<Fragment>((all, condition) => sql`${all} and ${condition}`, sql.literal("true"))
    }

    return {
      ...invoices,

      create: (request: typeof CreateInvoice.Type) =>
        contracts.get(request.contractId).pipe(
          Effect.flatMap((contract) => draftOf(contract, request)),
          Effect.flatMap(invoices.create)
        ),

      list: (window: PageRequest, filter: Filter) =>
        Effect.flatMap(CurrentTenant, (tenant) => {
          const { contractId, sort, status } = filter
          return invoices.page(window, { contract: contractId, status }, conditionOf(tenant, filter), sort)
        }),

      /** An invoice with the client of its contract. */
      getWithClient: Effect.fnUntraced(function* (id: string) {
        const value = yield* invoices.get(id)
        const { client } = yield* contracts.get(value.contract)
        return { value, client }
      }),

      /** The parties as of finalization, or undefined for an invoice that was never finalized. */
      findFrozenParties: (id: string) =>
        Effect.flatMap(CurrentTenant, (tenant) =>
          Effect.orDie(sql<{ parties: unknown }>`
            select parties from invoices where tenant_id = ${tenant} and id = ${id}`)
        ).pipe(Effect.map(([row]) => row?.parties ?? undefined))
    }
  }).pipe(withSpans("Invoices"))
}) {}
