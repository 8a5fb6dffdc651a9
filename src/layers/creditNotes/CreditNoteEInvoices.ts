import { Effect } from "effect"
import { type EInvoiceSyntax, requireIssued } from "../../domain/eInvoice/EInvoiceCheck.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { EInvoiceWriter } from "../invoicing/document/EInvoiceWriter.ts"
import { CreditNoteDetails } from "./CreditNotePdfs.ts"
import { CreditNotes } from "./CreditNotes.ts"

/** E-invoices of credit notes. The content of a finalized note never changes, and so neither does its XML. */
export class CreditNoteEInvoices extends Effect.Service<CreditNoteEInvoices>()("layers/CreditNoteEInvoices", {
  dependencies: [CreditNotes.Default, CreditNoteDetails.Default, EInvoiceWriter.Default],
  effect: Effect.gen(function* () {
    const notes = yield* CreditNotes
    const details = yield* CreditNoteDetails
    const writer = yield* EInvoiceWriter

    const prepare = Effect.fnUntraced(function* (id: string, keys: ReadonlyArray<string>) {
      const note = yield* notes.get(id)
      return { note, request: { keys, lineCount: yield* details.countLines(note), load: details.get(id) } }
    })

    return {
      check: (id: string, keys: ReadonlyArray<string>) =>
        Effect.flatMap(prepare(id, keys), ({ request }) => writer.check(request)),

      xml: Effect.fnUntraced(function* (id: string, syntax: EInvoiceSyntax, keys: ReadonlyArray<string>) {
        const { note, request } = yield* prepare(id, keys)
        yield* requireIssued(note)
        return { note, xml: yield* writer.xml(request, syntax) }
      })
    }
  }).pipe(withSpans("CreditNoteEInvoices"))
}) {}
