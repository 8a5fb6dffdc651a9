import * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect } from "effect"
import { NotFound } from "../../domain/Errors.ts"
import type { SettledSums } from "../../domain/invoicing/Invoice.ts"
import { requireInvoiceTransition } from "../../domain/invoicing/InvoiceStatus.ts"
import { type JournalEntry, writeOffEntry, writeOffReversalEntry } from "../../domain/journal/JournalEntry.ts"
import { requireWriteOff, requireWrittenOff, settleInvoice, type WriteOff } from "../../domain/settlement/Settlement.ts"
import { CreditNotes } from "../creditNotes/CreditNotes.ts"
import { inTransaction } from "../infra/postgres/connection/Transactions.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { Invoices } from "../invoicing/Invoices.ts"
import { Journal } from "../journal/Journal.ts"
import { SettledInvoices } from "../settlement/SettledInvoices.ts"
import { Payments } from "./Payments.ts"

/** Settles single invoices: payment of the whole balance, write-off, and its reversal. */
export class InvoiceSettlement extends Effect.Service<InvoiceSettlement>()("layers/InvoiceSettlement", {
  dependencies: [CreditNotes.Default, Invoices.Default, Journal.Default, Payments.Default, SettledInvoices.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const invoices = yield* Invoices
    const journal = yield* Journal
    const notes = yield* CreditNotes
    const payments = yield* Payments
    const settled = yield* SettledInvoices

    /** Locks an invoice and checks `If-Match`. */
    const lock = Effect.fnUntraced(function* (id: string) {
      const locked = yield* settled.lock([id])
      const found = locked.get(id)
      if (found === undefined) return yield* Effect.fail(new NotFound())
      yield* invoices.requireIfMatch(found.version)
      return { locked, ...found }
    })

    const pay = Effect.fnUntraced(function* (id: string) {
      yield* settled.lockClientOf("invoices", id)
      const { client, locked, version } = yield* lock(id)
      const { balanceMinor, currencyCode, status } = version.value
      yield* requireInvoiceTransition(status, "pay")
      if (balanceMinor === 0) {
        const { action, value } = settleInvoice(version.value, {}, new Date().toISOString())
        return yield* invoices.updateLocked(version, action, value, { commit: true })
      }
      const { invoices: paid } = yield* payments.record(
        {
          clientId: client,
          currencyCode,
          amountMinor: balanceMinor,
          allocations: [{ invoiceId: version.value.id, amountMinor: balanceMinor }]
        },
        locked
      )
      return paid[0] ?? version.value
    })

    /** Changes what settles a locked invoice, and commits. */
    const settle = Effect.fnUntraced(function* (
      { client, version }: Effect.Effect.Success<ReturnType<typeof lock>>,
      changes: Partial<SettledSums>,
      entries: ReadonlyArray<JournalEntry>,
      extraCtes: ReadonlyArray<Fragment> = []
    ) {
      const { action, value } = settleInvoice(version.value, changes, new Date().toISOString())
      const { currencyCode } = version.value
      return yield* invoices.updateLocked(version, action, value, {
        extraCtes: [yield* journal.buildBooking({ client, currencyCode }, entries), ...extraCtes],
        commit: true
      })
    })

    return {
      /** Records a payment of the balance, or none when the balance is 0. */
      pay: (id: string) => pay(id).pipe(inTransaction(sql)),

      writeOff: (id: string, { amountMinor, reason }: typeof WriteOff.Type) =>
        Effect.gen(function* () {
          const locked = yield* lock(id)
          const amount = yield* requireWriteOff(locked.version.value, amountMinor)
          return yield* settle(locked, { writtenOffMinor: amount }, [writeOffEntry(id, amount, reason)])
        }).pipe(inTransaction(sql)),

      /** Takes back all that was written off. The invoice's own credit notes settle it first, if they have something left. */
      reverseWriteOff: (id: string) =>
        Effect.gen(function* () {
          yield* settled.lockClientOf("invoices", id)
          const locked = yield* lock(id)
          const amountMinor = yield* requireWrittenOff(locked.version.value)
          const reopened = { invoice: locked.version.value.id, amountMinor }
          const own = yield* notes.useForReopened(locked.client, [reopened])
          const creditedMinor = own.allocations.reduce((sum, allocation) => sum + allocation.amountMinor, 0)
          return yield* settle(
            locked,
            { writtenOffMinor: -amountMinor, creditedMinor },
            [writeOffReversalEntry(id, amountMinor), ...own.entries],
            own.ctes
          )
        }).pipe(inTransaction(sql))
    }
  }).pipe(withSpans("InvoiceSettlement"))
}) {}
