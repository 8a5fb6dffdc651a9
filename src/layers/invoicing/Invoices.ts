import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { type CreateInvoice, Invoice } from "../../domain/invoicing/Invoice.ts"
import { draftOf } from "../../domain/invoicing/InvoiceDraft.ts"
import { type InvoiceStatus, requireEditableInvoice } from "../../domain/invoicing/InvoiceStatus.ts"
import type { PageRequest } from "../../domain/Paging.ts"
import { applyPatch, type Patch } from "../../domain/Schemas.ts"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import { Contracts } from "../contracting/Contracts.ts"
import { makeResource } from "../postgres/repository/Resource.ts"
import { withSpans } from "../telemetry/UseCaseSpans.ts"

interface Filter {
  readonly contractId?: string | undefined
  readonly status?: InvoiceStatus | undefined
  readonly overdue?: boolean | undefined
}

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
      clientOf: ({ contract }, tenant) =>
        sql`(select client_id from contracts where tenant_id = ${tenant} and id = ${contract})`
    })

    const overdueFilter = (overdue: boolean | undefined) => {
      if (overdue === undefined) return sql.literal("true")
      return sql.literal(`(status = 'FINALIZED' and due_at < now()) is ${overdue}`)
    }

    return {
      ...invoices,

      create: (request: typeof CreateInvoice.Type) =>
        contracts.get(request.contractId).pipe(
          Effect.flatMap((contract) => draftOf(contract, request)),
          Effect.flatMap(invoices.create)
        ),

      list: (window: PageRequest, { contractId, overdue, status }: Filter) =>
        invoices.page(window, { contract: contractId, status }, overdueFilter(overdue)),

      patch: (id: string, change: Patch<Invoice>) =>
        invoices.updateWith(id, (invoice) =>
          Effect.as(requireEditableInvoice(invoice.status), applyPatch(invoice, change))
        ),

      /** The parties as of finalization, or undefined for an invoice that was never finalized. */
      findFrozenParties: (id: string) =>
        Effect.flatMap(CurrentTenant, (tenant) =>
          Effect.orDie(sql<{ parties: unknown }>`
            select parties from invoices where tenant_id = ${tenant} and id = ${id}`)
        ).pipe(Effect.map(([row]) => row?.parties ?? undefined))
    }
  }).pipe(withSpans("Invoices"))
}) {}
