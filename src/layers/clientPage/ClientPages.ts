import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import {
  maxPageCreditNotes,
  maxPageLines,
  type PageCreditNote,
  type PageSource
} from "../../domain/clientPage/ClientPage.ts"
import type { BankAccount } from "../../domain/money/BankAccount.ts"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import { inSnapshot } from "../infra/postgres/connection/Transactions.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { Billables } from "../invoicing/Billables.ts"
import { InvoiceImageStore } from "../invoicing/document/InvoiceImageStore.ts"
import { InvoiceDetails } from "../invoicing/document/InvoicePdfs.ts"

interface CreditNoteRow extends PageCreditNote {
  readonly count: number
  readonly sumMinor: number
}

/** Reads what the pages of invoices show. */
export class ClientPages extends Effect.Service<ClientPages>()("layers/ClientPages", {
  dependencies: [Billables.Default, InvoiceDetails.Default, InvoiceImageStore.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const billables = yield* Billables
    const details = yield* InvoiceDetails
    const images = yield* InvoiceImageStore

    /** Not the whole credit notes, because each names up to all lines of the invoice. */
    const selectCreditNotes = (tenant: string, invoice: string) => sql<CreditNoteRow>`
      select credit_note_number as number, issued_at as "issuedAt", total_minor as "totalMinor",
        count(*) over () as count, sum(total_minor) over ()::bigint as "sumMinor"
      from credit_notes where tenant_id = ${tenant} and invoice_id = ${invoice} and status = 'FINALIZED'
      order by id limit ${maxPageCreditNotes}`

    const findCurrentAccount = (tenant: string) =>
      Effect.map(
        sql<{ account: BankAccount | null }>`select bank_account as account from tenants where id = ${tenant}`,
        ([row]) => row?.account ?? undefined
      )

    const load = (id: string) =>
      Effect.gen(function* () {
        const tenant = yield* CurrentTenant
        const { invoice, parties } = yield* details.getHead(id)
        const lines = yield* billables.page({ limit: maxPageLines, after: undefined }, { invoice: id })
        const creditNotes = yield* Effect.orDie(selectCreditNotes(tenant, id))
        const hasOwnAccount = parties.tenant.bankAccount !== undefined
        return {
          invoice,
          parties,
          lines,
          creditNotes,
          creditNoteCount: creditNotes[0]?.count ?? 0,
          creditNotesMinor: creditNotes[0]?.sumMinor ?? 0,
          currentAccount: hasOwnAccount ? undefined : yield* Effect.orDie(findCurrentAccount(tenant)),
          hasLogo: (yield* images.findIssued(id, "tenant-logo")) !== undefined
        } satisfies PageSource
      }).pipe(inSnapshot(sql))

    return {
      load,

      /** The logo of the tenant on an issued invoice, or undefined if it has none. */
      findLogo: (invoice: string) => images.findIssued(invoice, "tenant-logo"),
      readLogo: images.readIssued
    }
  }).pipe(withSpans("ClientPages"))
}) {}
