import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { NotFound } from "../../domain/Errors.ts"
import { requireInvoiceTransition } from "../../domain/invoicing/InvoiceStatus.ts"
import { type JournalEntry, writeOffEntry, writeOffReversalEntry } from "../../domain/journal/JournalEntry.ts"
import { requireWriteOff, requireWrittenOff, settleInvoice, type WriteOff } from "../../domain/payments/Settlement.ts"
import { Invoices } from "../invoicing/Invoices.ts"
import { Journal } from "../journal/Journal.ts"
import { inTransaction } from "../postgres/connection/Transactions.ts"
import { withSpans } from "../telemetry/UseCaseSpans.ts"
import { Payments } from "./Payments.ts"
import { SettledInvoices } from "./SettledInvoices.ts"

/** Settles single invoices: payment of the whole balance, write-off, and its reversal. */
export class InvoiceSettlement extends Effect.Service<InvoiceSettlement>()("layers/InvoiceSettlement", {
  dependencies: [Invoices.Default, Journal.Default, Payments.Default, SettledInvoices.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const invoices = yield* Invoices
    const journal = yield* Journal
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
      yield* payments.lockClientOf("invoices", id)
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

    /** Changes what is written off of a locked invoice, and commits. */
    const changeWriteOff = Effect.fnUntraced(function* (
      { client, version }: Effect.Effect.Success<ReturnType<typeof lock>>,
      writtenOffMinor: number,
      entry: JournalEntry
    ) {
      const { action, value } = settleInvoice(version.value, { writtenOffMinor }, new Date().toISOString())
      const { currencyCode } = version.value
      return yield* invoices.updateLocked(version, action, value, {
        extraCtes: [yield* journal.buildBooking({ client, currencyCode }, [entry])],
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
          return yield* changeWriteOff(locked, amount, writeOffEntry(id, amount, reason))
        }).pipe(inTransaction(sql)),

      /** Takes back all that was written off. */
      reverseWriteOff: (id: string) =>
        Effect.gen(function* () {
          const locked = yield* lock(id)
          const amount = yield* requireWrittenOff(locked.version.value)
          return yield* changeWriteOff(locked, -amount, writeOffReversalEntry(id, amount))
        }).pipe(inTransaction(sql))
    }
  }).pipe(withSpans("InvoiceSettlement"))
}) {}
