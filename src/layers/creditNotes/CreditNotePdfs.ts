import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { creditedLine } from "../../domain/creditNotes/CreditedLine.ts"
import type { CreditNote } from "../../domain/creditNotes/CreditNote.ts"
import type { NotFound, ServiceUnavailable, TooManyRequests } from "../../domain/Errors.ts"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import { makeSingleFlight } from "../infra/concurrency/SingleFlight.ts"
import { PdfRenderer } from "../infra/pdf/PdfRenderer.ts"
import { inSnapshot } from "../infra/postgres/connection/Transactions.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { type InvoiceFile, InvoiceFiles } from "../invoicing/document/InvoiceFiles.ts"
import { InvoiceDetails } from "../invoicing/document/InvoicePdfs.ts"
import { CreditNoteLines } from "./CreditNoteLines.ts"
import { CreditNotes } from "./CreditNotes.ts"

/** Reads a credit note with its lines, its invoice and the parties of that in one snapshot. */
export class CreditNoteDetails extends Effect.Service<CreditNoteDetails>()("layers/CreditNoteDetails", {
  dependencies: [CreditNoteLines.Default, CreditNotes.Default, InvoiceDetails.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const invoices = yield* InvoiceDetails
    const noteLines = yield* CreditNoteLines
    const notes = yield* CreditNotes

    return {
      countLines: ({ full, invoice, lines }: CreditNote) =>
        full ? invoices.countLines(invoice) : Effect.succeed(lines.length),

      get: (id: string) =>
        Effect.gen(function* () {
          const creditNote = yield* notes.get(id)
          const { invoice, parties } = yield* invoices.getHead(creditNote.invoice)
          return { creditNote, invoice, parties, lines: (yield* noteLines.load(creditNote)).map(creditedLine) }
        }).pipe(inSnapshot(sql)),

      loadImages: invoices.loadImages
    }
  }).pipe(withSpans("CreditNoteDetails"))
}) {}

/** PDFs of credit notes. A draft is rendered for every request, a finalized note once. */
export class CreditNotePdfs extends Effect.Service<CreditNotePdfs>()("layers/CreditNotePdfs", {
  dependencies: [CreditNoteDetails.Default, InvoiceFiles.Default, PdfRenderer.Default],
  effect: Effect.gen(function* () {
    const details = yield* CreditNoteDetails
    const files = yield* InvoiceFiles
    const renderer = yield* PdfRenderer
    const singleFlight = makeSingleFlight<InvoiceFile, NotFound | ServiceUnavailable | TooManyRequests>()

    const load = (id: string) =>
      Effect.gen(function* () {
        const read = yield* details.get(id)
        return { ...read, images: yield* details.loadImages(read.invoice) }
      })

    const render = Effect.fnUntraced(function* (note: CreditNote, keys: ReadonlyArray<string>) {
      const tenant = yield* CurrentTenant
      const lineCount = yield* details.countLines(note)
      return yield* renderer.renderInvoice({ keys: [tenant, ...keys], lineCount, load: load(note.id) })
    })

    return {
      renderPreview: (note: CreditNote, keys: ReadonlyArray<string>) => render(note, keys),

      /** The saved file of a finalized note. The first request renders it; concurrent requests share the result. */
      getIssued: Effect.fnUntraced(function* (note: CreditNote, keys: ReadonlyArray<string> = []) {
        const saved = yield* files.find(note.id, "CREDIT_NOTE")
        if (saved !== undefined) return saved
        const tenant = yield* CurrentTenant
        const renderAndSave = Effect.flatMap(render(note, keys), (pdf) => files.save(note.id, "CREDIT_NOTE", pdf))
        return yield* singleFlight(`${tenant} ${note.id}`, renderAndSave)
      }),

      /** Streams the bytes of a saved file. */
      read: files.read
    }
  }).pipe(withSpans("CreditNotePdfs"))
}) {}
