import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { billedAfter } from "../../domain/contracting/ContractCap.ts"
import { contentOf } from "../../domain/creditNotes/Crediting.ts"
import {
  type AllocateCreditNote,
  type CreditNote,
  type RefundCreditNote,
  requireDraft,
  requireIssued
} from "../../domain/creditNotes/CreditNote.ts"
import { issueCreditNote } from "../../domain/creditNotes/OwnCredit.ts"
import { netOf } from "../../domain/invoicing/InvoiceTotals.ts"
import { allocationEntry, creditNoteEntry } from "../../domain/journal/JournalEntry.ts"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import { inTransaction, type TransactionMode, withMode } from "../infra/postgres/connection/Transactions.ts"
import type { Versioned } from "../infra/postgres/repository/ResourceSpec.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { ContractCap, type LockedInvoice } from "../invoicing/ContractCap.ts"
import { InvoiceFileQueue } from "../invoicing/document/InvoiceFileQueue.ts"
import { CreditNoteNumbers } from "../invoicing/NumberSeries.ts"
import { Journal } from "../journal/Journal.ts"
import { makeCreditMoves } from "../settlement/CreditMoves.ts"
import { SettledInvoices } from "../settlement/SettledInvoices.ts"
import { CreditableInvoices } from "./CreditableInvoices.ts"
import { CreditNotes } from "./CreditNotes.ts"

/**
 * Finalizes credit notes and uses what they have left. Finalizing locks the client, the note, the contract, the invoice
 * and the series. Every transaction that locks more than a note locks its client first, which prevents deadlocks.
 */
export class CreditNoteLifecycle extends Effect.Service<CreditNoteLifecycle>()("layers/CreditNoteLifecycle", {
  dependencies: [
    ContractCap.Default,
    CreditableInvoices.Default,
    CreditNoteNumbers.Default,
    CreditNotes.Default,
    InvoiceFileQueue.Default,
    Journal.Default,
    SettledInvoices.Default
  ],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const contractCap = yield* ContractCap
    const creditable = yield* CreditableInvoices
    const files = yield* InvoiceFileQueue
    const journal = yield* Journal
    const notes = yield* CreditNotes
    const numbers = yield* CreditNoteNumbers
    const settled = yield* SettledInvoices
    const moves = yield* makeCreditMoves(
      {
        name: "credit note",
        table: "credit_notes",
        refOf: (creditNote) => ({ creditNote }),
        settles: "creditedMinor",
        requireUsable: requireIssued
      },
      notes
    )

    /** Locks the client of a note, then the note. Also reads the time zone of the tenant. */
    const lockClientAndNote = Effect.fnUntraced(function* (id: string) {
      const tenant = yield* CurrentTenant
      const client = sql`
        select (select time_zone from tenants where id = ${tenant}) as "timeZone" from clients
        where tenant_id = ${tenant}
          and id = (select client_id from credit_notes where tenant_id = ${tenant} and id = ${id})
        for no key update`
      const { first, locked } = yield* notes.lockForUpdateAfter<{ timeZone: string }, string>(client, id, "client_id")
      return { timeZone: first.timeZone, version: yield* notes.requireIfMatch(locked) }
    })

    /** The note with what it credits now, before it has a number. */
    const computeFinal = Effect.fnUntraced(function* ({ invoice }: LockedInvoice, { value }: Versioned<CreditNote>) {
      const credit = yield* creditable.credit(invoice.value, contentOf(value))
      const note = issueCreditNote(value, credit, invoice.value.balanceMinor)
      return { credit, note }
    })

    /** Builds the CTE that settles the invoice with the note. */
    const buildSettlement = ({ contract, invoice }: LockedInvoice, { allocations }: CreditNote, at: string) => {
      const { value } = invoice
      const locked = new Map([[value.id as string, { invoice: value, client: contract.client, version: invoice }]])
      return settled.buildUpdates(locked, contract.client, moves.toSettlements(allocations), at)
    }

    /** Allocates the number late, because all other notes of the tenant wait for it until the transaction ends. */
    const finalize = Effect.fnUntraced(function* (id: string) {
      const { timeZone, version } = yield* lockClientAndNote(id)
      yield* requireDraft(version.value)
      const locked = yield* contractCap.lockContractAndInvoice(version.value.invoice)
      const { credit, note } = yield* computeFinal(locked, version)
      yield* billedAfter(locked.contract, [-netOf(note)], "lines")
      yield* creditable.write(note, credit)
      const enqueued = yield* files.buildEnqueue(id, "CREDIT_NOTE")
      const { issuedAt, number, period, place } = yield* numbers.allocate(timeZone)
      const entries = [
        creditNoteEntry(id, note.totalMinor, note.reason),
        ...note.allocations.map((allocation) => allocationEntry({ creditNote: id }, allocation))
      ]
      const settlement = yield* buildSettlement(locked, note, issuedAt)
      return yield* notes.updateLocked(
        version,
        "finalized",
        { ...note, creditNoteNumber: number, issuedAt },
        {
          columns: { period, place, credited_before: JSON.stringify(credit.before) },
          extraCtes: [yield* journal.buildBooking(note, entries, issuedAt), enqueued, ...settlement.ctes],
          commit: true
        }
      )
    })

    return {
      finalize: (id: string, mode?: TransactionMode) => withMode(sql, mode)(finalize(id).pipe(inTransaction(sql))),

      allocate: (id: string, request: typeof AllocateCreditNote.Type) =>
        moves.allocate(id, request).pipe(inTransaction(sql)),

      refund: (id: string, request: typeof RefundCreditNote.Type) => moves.refund(id, request).pipe(inTransaction(sql))
    }
  }).pipe(withSpans("CreditNoteLifecycle"))
}) {}
