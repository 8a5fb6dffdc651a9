import { Effect, Layer } from "effect"
import { creditNotePdfName } from "../../../domain/invoicing/document/PdfName.ts"
import { callerKey, Principal } from "../../../domain/tenancy/RequestContext.ts"
import { InvoiceMails } from "../../../layers/mail/InvoiceMails.ts"
import { CreditNoteDrafts } from "../../../layers/payments/creditNotes/CreditNoteDrafts.ts"
import { CreditNoteExplanations } from "../../../layers/payments/creditNotes/CreditNoteExplanations.ts"
import { CreditNoteLifecycle } from "../../../layers/payments/creditNotes/CreditNoteLifecycle.ts"
import { CreditNotePdfs } from "../../../layers/payments/creditNotes/CreditNotePdfs.ts"
import { CreditNotes } from "../../../layers/payments/creditNotes/CreditNotes.ts"
import { CreditNotesApi } from "../../api/groups/invoicing/CreditNotes.ts"
import { handleGroup, provideShared } from "../../server/Handlers.ts"
import { listPage } from "../../server/response/Paging.ts"
import { renderedPdf, savedPdf } from "./PdfResult.ts"

const dependencies = Effect.all({
  drafts: CreditNoteDrafts,
  explanations: CreditNoteExplanations,
  lifecycle: CreditNoteLifecycle,
  mails: InvoiceMails,
  notes: CreditNotes,
  pdfs: CreditNotePdfs
}).pipe(
  provideShared(
    Layer.mergeAll(
      CreditNoteDrafts.Default,
      CreditNoteExplanations.Default,
      CreditNoteLifecycle.Default,
      CreditNotes.Default,
      InvoiceMails.Default,
      CreditNotePdfs.Default
    )
  )
)

export const creditNotes = handleGroup(
  CreditNotesApi,
  dependencies,
  ({ drafts, explanations, lifecycle, mails, notes, pdfs }) => ({
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
      })
  })
)
