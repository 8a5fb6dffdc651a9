import { Effect } from "effect"
import { defaultSyntax } from "../../domain/eInvoice/EInvoiceCheck.ts"
import { creditNotePdfName, creditNoteXmlName } from "../../domain/invoicing/document/FileName.ts"
import { callerKey, Principal } from "../../domain/tenancy/RequestContext.ts"
import { CreditNoteDrafts } from "../../layers/creditNotes/CreditNoteDrafts.ts"
import { CreditNoteEInvoices } from "../../layers/creditNotes/CreditNoteEInvoices.ts"
import { CreditNoteExplanations } from "../../layers/creditNotes/CreditNoteExplanations.ts"
import { CreditNoteLifecycle } from "../../layers/creditNotes/CreditNoteLifecycle.ts"
import { CreditNotePdfs } from "../../layers/creditNotes/CreditNotePdfs.ts"
import { CreditNotes } from "../../layers/creditNotes/CreditNotes.ts"
import { InvoiceMails } from "../../layers/mails/InvoiceMails.ts"
import { renderedPdf, renderedXml, savedPdf } from "../invoicing/FileResult.ts"
import { handleGroup } from "../server/Handlers.ts"
import { listPage } from "../server/response/Paging.ts"
import { CreditNotesApi } from "./CreditNotesApi.ts"

const dependencies = Effect.all({
  drafts: CreditNoteDrafts,
  explanations: CreditNoteExplanations,
  lifecycle: CreditNoteLifecycle,
  mails: InvoiceMails,
  notes: CreditNotes,
  pdfs: CreditNotePdfs,
  eInvoices: CreditNoteEInvoices
})

export const creditNotes = handleGroup(
  CreditNotesApi,
  dependencies,
  ({ drafts, eInvoices, explanations, lifecycle, mails, notes, pdfs }) => ({
    list: ({ query }) => listPage(query, (window) => notes.list(window, query)),
    create: ({ payload }) => drafts.create(payload),
    get: ({ path }) => notes.get(path.creditNoteId),
    patch: ({ path, payload }) => drafts.patch(path.creditNoteId, payload),
    remove: ({ path }) => drafts.remove(path.creditNoteId),
    finalize: ({ path, query }) => lifecycle.finalize(path.creditNoteId, query),
    allocate: ({ path, payload }) => lifecycle.allocate(path.creditNoteId, payload),
    refund: ({ path, payload }) => lifecycle.refund(path.creditNoteId, payload),
    send: ({ path, payload }) => mails.sendCreditNote(path.creditNoteId, payload),
    listMails: ({ path, query }) => listPage(query, (window) => mails.pageOfCreditNote(path.creditNoteId, window)),
    explain: ({ path }) => explanations.get(path.creditNoteId),
    pdf: ({ path }) =>
      Effect.gen(function* () {
        const note = yield* notes.get(path.creditNoteId)
        const name = creditNotePdfName(note)
        const keys = [callerKey(yield* Principal)]
        return note.status === "DRAFT"
          ? renderedPdf(name, yield* pdfs.renderPreview(note, keys))
          : yield* savedPdf(name, yield* pdfs.getIssued(note, keys), pdfs.read)
      }),
    checkEInvoice: ({ path }) =>
      Effect.flatMap(Principal, (principal) => eInvoices.check(path.creditNoteId, [callerKey(principal)])),
    xml: ({ path, query: { syntax = defaultSyntax } }) =>
      Effect.gen(function* () {
        const keys = [callerKey(yield* Principal)]
        const { note, xml } = yield* eInvoices.xml(path.creditNoteId, syntax, keys)
        return renderedXml(creditNoteXmlName(note), xml)
      })
  })
)
