import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { type CreditContent, contentOf, toCreditLines } from "../../domain/creditNotes/Crediting.ts"
import {
  type CreateCreditNote,
  type CreditNote,
  type PatchCreditNote,
  requireDraft
} from "../../domain/creditNotes/CreditNote.ts"
import { currentSubject } from "../../domain/tenancy/RequestContext.ts"
import { inTransaction } from "../infra/postgres/connection/Transactions.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { Invoices } from "../invoicing/Invoices.ts"
import { CreditableInvoices } from "./CreditableInvoices.ts"
import { CreditNotes } from "./CreditNotes.ts"

const contentOfRequest = ({ lines }: Pick<typeof CreateCreditNote.Type, "lines">): CreditContent =>
  lines === undefined ? { full: true } : { full: false, lines: toCreditLines(lines) }

/** Drafts of credit notes. They reserve nothing: what they credit is computed again when they are finalized. */
export class CreditNoteDrafts extends Effect.Service<CreditNoteDrafts>()("layers/CreditNoteDrafts", {
  dependencies: [CreditableInvoices.Default, CreditNotes.Default, Invoices.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const creditable = yield* CreditableInvoices
    const invoices = yield* Invoices
    const notes = yield* CreditNotes

    /** The fields of a draft that depend on what it credits. */
    const compute = Effect.fnUntraced(function* (invoice: string, content: CreditContent) {
      const { amounts, lines } = yield* creditable.credit(yield* invoices.get(invoice), content)
      const { discountShares: _, ...sums } = amounts
      return { full: content.full, lines, ...sums }
    })

    return {
      compute,

      create: Effect.fnUntraced(function* (request: typeof CreateCreditNote.Type) {
        const { client, value } = yield* invoices.getWithClient(request.invoiceId)
        const createdBy = yield* currentSubject
        return yield* notes.create({
          invoice: value.id,
          client,
          status: "DRAFT",
          currencyCode: value.currencyCode,
          reason: request.reason,
          ...(yield* compute(value.id, contentOfRequest(request))),
          allocations: [],
          unallocatedMinor: 0,
          refundedMinor: 0,
          ...(createdBy === undefined ? {} : { createdBy })
        })
      }),

      patch: (id: string, { full, lines, reason }: typeof PatchCreditNote.Type) =>
        Effect.gen(function* () {
          const version = yield* notes.lockForWrite(id)
          yield* requireDraft(version.value)
          const content =
            full === undefined && lines === undefined
              ? contentOf(version.value)
              : contentOfRequest(lines === undefined ? {} : { lines })
          const next: CreditNote = {
            ...version.value,
            ...(reason === undefined ? {} : { reason }),
            ...(yield* compute(version.value.invoice, content))
          }
          return yield* notes.updateLocked(version, "updated", next, { commit: true })
        }).pipe(inTransaction(sql)),

      remove: (id: string) =>
        Effect.gen(function* () {
          const version = yield* notes.lockForWrite(id)
          yield* requireDraft(version.value)
          yield* notes.deleteLocked(version, { commit: true })
        }).pipe(inTransaction(sql))
    }
  }).pipe(withSpans("CreditNoteDrafts"))
}) {}
