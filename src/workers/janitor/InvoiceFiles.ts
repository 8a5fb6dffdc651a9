import { Effect } from "effect"
import { CurrentTenant } from "../../domain/tenancy/Caller.ts"
import { type FileJob, InvoiceFileQueue } from "../../layers/invoicing/InvoiceFileQueue.ts"
import { InvoicePdfs } from "../../layers/invoicing/InvoicePdfs.ts"
import { Invoices } from "../../layers/invoicing/Invoices.ts"
import { forEver } from "../ForEver.ts"

const pollInterval = "5 seconds"

/** Renders queued invoice files one at a time, round-robin over the tenants. */
export const makeFileDrawing = Effect.gen(function* () {
  const queue = yield* InvoiceFileQueue
  const invoices = yield* Invoices
  const pdfs = yield* InvoicePdfs
  let lastTenant = ""

  const render = ({ invoice, tenant, variant }: FileJob) =>
    invoices.get(invoice).pipe(
      Effect.flatMap((read) => pdfs.issued(read, variant)),
      Effect.provideService(CurrentTenant, tenant),
      // The queue offers the job again when its lease expires.
      Effect.catchAllCause((cause) =>
        Effect.logWarning(
          `Rendering the file of invoice ${invoice} failed; it is retried when its lease expires`,
          cause
        )
      )
    )

  /** Returns whether a job was claimed. */
  const drawNext = Effect.gen(function* () {
    const job = (yield* queue.claim(lastTenant)) ?? (lastTenant === "" ? undefined : yield* queue.claim(""))
    lastTenant = job?.tenant ?? ""
    if (job?.isActive) yield* render(job)
    return job !== undefined
  })
  return { drawNext }
})

/** Renders the files of invoices soon after they are issued or voided, and backfills older ones. */
export const keepInvoiceFiles = Effect.gen(function* () {
  const { drawNext } = yield* makeFileDrawing
  const step = Effect.flatMap(drawNext, (hadJob) => (hadJob ? Effect.void : Effect.sleep(pollInterval)))
  yield* Effect.forkScoped(forEver("Invoice rendering", step))
})
