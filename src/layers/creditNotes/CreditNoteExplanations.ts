import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { explainCreditNote } from "../../domain/creditNotes/CreditExplanation.ts"
import { addCredits, alignWith } from "../../domain/creditNotes/CreditTotals.ts"
import { allTaxSets, type TaxSet } from "../../domain/invoicing/draft/TaxSets.ts"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import { inSnapshot } from "../infra/postgres/connection/Transactions.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { Invoices } from "../invoicing/Invoices.ts"
import { CreditableInvoices } from "./CreditableInvoices.ts"
import { CreditNoteLines } from "./CreditNoteLines.ts"
import { CreditNotes } from "./CreditNotes.ts"

/** Explains how the total of a credit note is calculated. */
export class CreditNoteExplanations extends Effect.Service<CreditNoteExplanations>()("layers/CreditNoteExplanations", {
  dependencies: [CreditableInvoices.Default, CreditNoteLines.Default, CreditNotes.Default, Invoices.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const creditableInvoices = yield* CreditableInvoices
    const invoices = yield* Invoices
    const noteLines = yield* CreditNoteLines
    const notes = yield* CreditNotes

    /** What was credited before a finalized note. */
    const findBefore = (id: string) =>
      Effect.flatMap(CurrentTenant, (tenant) =>
        Effect.orDie(sql<{ before: ReadonlyArray<TaxSet> | null }>`
          select credited_before as before from credit_notes where tenant_id = ${tenant} and id = ${id}`)
      ).pipe(Effect.map(([row]) => row?.before ?? undefined))

    return {
      /** Explains a note and its lines in one snapshot: a draft as it would be finalized now. */
      get: (id: string) =>
        Effect.gen(function* () {
          const note = yield* notes.get(id)
          const creditable = yield* creditableInvoices.load(yield* invoices.get(note.invoice))
          const sets = allTaxSets(creditable.taxSets, creditable.invoice)
          const before = alignWith(sets, (yield* findBefore(id)) ?? creditable.credited)
          const lines = yield* noteLines.load(note)
          return explainCreditNote(note, creditable, [before, addCredits(before, lines)], lines)
        }).pipe(inSnapshot(sql))
    }
  }).pipe(withSpans("CreditNoteExplanations"))
}) {}
