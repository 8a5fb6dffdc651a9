import { Effect } from "effect"
import { CurrentTenant } from "../../domain/tenancy/Caller.ts"
import { type FileJob, InvoiceFileQueue } from "../../layers/invoicing/InvoiceFileQueue.ts"
import { InvoicePdfs } from "../../layers/invoicing/InvoicePdfs.ts"
import { Invoices } from "../../layers/invoicing/Invoices.ts"
import { forEver } from "../ForEver.ts"

const pollInterval = "5 seconds"

/** Draws queued files one by one; tenants take turns. */
export const makeFileDrawing = Effect.gen(function* () {
  const queue = yield* InvoiceFileQueue
  const invoices = yield* Invoices
  const pdfs = yield* InvoicePdfs
  let turn = ""

  const draw = ({ invoice, tenant, variant }: FileJob) =>
    invoices.get(invoice).pipe(
      Effect.flatMap((read) => pdfs.issued(read, variant)),
      Effect.provideService(CurrentTenant, tenant),
      // The lease runs out, and then it is tried again.
      Effect.catchAllCause((cause) => Effect.logWarning(`The file of ${invoice} could not be drawn`, cause))
    )

  /** Tells whether there was one to draw. */
  const drawNext = Effect.gen(function* () {
    const job = (yield* queue.claim(turn)) ?? (turn === "" ? undefined : yield* queue.claim(""))
    turn = job?.tenant ?? ""
    if (job?.isActive) yield* draw(job)
    return job !== undefined
  })
  return { drawNext }
})

/** Draws the files of invoices soon after they are issued or voided, and of those that were issued long before. */
export const keepInvoiceFiles = Effect.gen(function* () {
  const { drawNext } = yield* makeFileDrawing
  const step = Effect.flatMap(drawNext, (wasAny) => (wasAny ? Effect.void : Effect.sleep(pollInterval)))
  yield* Effect.forkScoped(forEver("Drawing of invoices", step))
})
