import * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect } from "effect"
import { billedAfter } from "../../domain/contracting/ContractCap.ts"
import { requireNoErrors } from "../../domain/Errors.ts"
import { discountReasonErrors } from "../../domain/invoicing/Discount.ts"
import type { Invoice, PatchInvoice } from "../../domain/invoicing/Invoice.ts"
import { headerErrors } from "../../domain/invoicing/InvoiceHeader.ts"
import { requireEditableInvoice } from "../../domain/invoicing/InvoiceStatus.ts"
import { type TotalsChange, totalsAfter } from "../../domain/invoicing/InvoiceTotals.ts"
import { applyPatch } from "../../domain/Schemas.ts"
import type { TaxRate } from "../../domain/taxes/TaxRate.ts"
import { inTransaction } from "../infra/postgres/connection/Transactions.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { Quotas } from "../quotas/Quotas.ts"
import { TaxRates } from "../taxes/TaxRates.ts"
import { ContractCap, type LockedInvoice } from "./ContractCap.ts"
import { Invoices } from "./Invoices.ts"

/** A change of a draft: its lines, and the fields to set. */
interface DraftChange extends TotalsChange {
  readonly invoice?: Invoice
  readonly extraCtes?: ReadonlyArray<Fragment>
}

/** Changes of draft invoices. Each one locks the contract, then the invoice, and updates all totals. */
export class InvoiceDrafts extends Effect.Service<InvoiceDrafts>()("layers/InvoiceDrafts", {
  dependencies: [ContractCap.Default, Invoices.Default, Quotas.Default, TaxRates.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const contractCap = yield* ContractCap
    const invoices = yield* Invoices
    const taxRates = yield* TaxRates
    const maxLines = (yield* Quotas).maxOf("invoiceLines")

    /** Locks a contract and its draft invoice. Fails for an invoice that is no draft. */
    const lock = Effect.fnUntraced(function* (id: string) {
      const locked = yield* contractCap.lockContractAndInvoice(id)
      yield* requireEditableInvoice(locked.invoice.value.status)
      return locked
    })

    /** The rates of a draft and these. */
    const findRates = ({ taxSets }: LockedInvoice, ids: ReadonlyArray<string>) =>
      taxRates.findAll([...ids, ...taxSets.flatMap((set) => set.taxRates)])

    /** Writes a draft with its new totals, and commits. The cost does not depend on the number of existing lines. */
    const update = Effect.fnUntraced(function* (
      { contract, invoice, taxSets }: LockedInvoice,
      { extraCtes = [], invoice: value = invoice.value, ...change }: DraftChange,
      rates: ReadonlyMap<string, TaxRate>
    ) {
      const after = yield* totalsAfter({ value, taxSets }, change, rates, maxLines)
      yield* billedAfter(contract, after.netChanges, change.field)
      return yield* invoices.updateLocked(
        invoice,
        "updated",
        { ...value, ...after.totals },
        {
          columns: { tax_sets: JSON.stringify(after.taxSets) },
          extraCtes,
          commit: true
        }
      )
    })

    return {
      lock,
      findRates,
      update,

      /** A locked invoice with totals from the current terms of its tax rates. */
      computeTotals: Effect.fnUntraced(function* (locked: LockedInvoice) {
        const { invoice, taxSets } = locked
        const rates = yield* findRates(locked, [])
        const unchanged = { lines: [], field: "taxes" }
        const { totals } = yield* totalsAfter({ value: invoice.value, taxSets }, unchanged, rates, maxLines)
        return { ...invoice.value, ...totals }
      }),

      patch: (id: string, change: typeof PatchInvoice.Type) =>
        Effect.gen(function* () {
          const locked = yield* lock(id)
          const current = yield* invoices.requireIfMatch(locked.invoice)
          const invoice = applyPatch<Invoice>(current.value, change)
          yield* requireNoErrors([...discountReasonErrors(invoice), ...headerErrors(invoice)])
          return yield* update(locked, { invoice, lines: [], field: "discount" }, yield* findRates(locked, []))
        }).pipe(inTransaction(sql))
    }
  }).pipe(withSpans("InvoiceDrafts"))
}) {}
