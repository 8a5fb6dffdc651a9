import { Effect } from "effect"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import { CreditNotePdfs } from "../../layers/creditNotes/CreditNotePdfs.ts"
import { CreditNotes } from "../../layers/creditNotes/CreditNotes.ts"
import { type InvoiceFileJob, InvoiceFileQueue } from "../../layers/invoicing/document/InvoiceFileQueue.ts"
import { InvoicePdfs } from "../../layers/invoicing/document/InvoicePdfs.ts"
import { Invoices } from "../../layers/invoicing/Invoices.ts"
import { runForever } from "../RunForever.ts"

const pollInterval = "5 seconds"

/** Renders queued invoice files one at a time, round-robin over the tenants. */
export const makeInvoiceFileRenderer = Effect.gen(function* () {
  const queue = yield* InvoiceFileQueue
  const invoices = yield* Invoices
  const pdfs = yield* InvoicePdfs
  const notes = yield* CreditNotes
  const notePdfs = yield* CreditNotePdfs
  let lastTenant = ""

  const renderDocument = ({ document, variant }: InvoiceFileJob) =>
    variant === "CREDIT_NOTE"
      ? Effect.flatMap(notes.get(document), (note) => notePdfs.getIssued(note))
      : Effect.flatMap(invoices.get(document), (invoice) => pdfs.getIssued(invoice, variant))

  const render = (job: InvoiceFileJob) =>
    renderDocument(job).pipe(
      Effect.provideService(CurrentTenant, job.tenant),
      // The queue offers the job again when its lease expires.
      Effect.catchAllCause((cause) =>
        Effect.logWarning(`Rendering the file of ${job.document} failed; it is retried when its lease expires`, cause)
      )
    )

  /** Returns whether a job was claimed. */
  const renderNext = Effect.gen(function* () {
    const job = (yield* queue.claim(lastTenant)) ?? (lastTenant === "" ? undefined : yield* queue.claim(""))
    lastTenant = job?.tenant ?? ""
    if (job?.isActive) yield* render(job)
    return job !== undefined
  })
  return { renderNext }
})

/** Renders the files of invoices soon after they are issued or voided, and backfills older ones. */
export const startInvoiceFileRenderer = Effect.gen(function* () {
  const { renderNext } = yield* makeInvoiceFileRenderer
  const step = Effect.flatMap(renderNext, (hadJob) => (hadJob ? Effect.void : Effect.sleep(pollInterval)))
  yield* Effect.forkScoped(runForever("Invoice rendering", step))
})
