import { parentPort } from "node:worker_threads"
import type { InvoiceDocument } from "../../domain/invoicing/InvoiceDocument.ts"
import { loadFonts } from "./drawing/Fonts.ts"
import { drawableImages } from "./drawing/Images.ts"
import { drawInvoice } from "./drawing/Invoice.ts"
import type { Outcome } from "./Outcome.ts"

// A thread of its own, so that drawing keeps no request waiting. The build puts the fonts beside it.
const fonts = loadFonts(new URL("./fonts/", import.meta.url))

const answer = (outcome: Outcome, ...transferred: ReadonlyArray<ArrayBuffer>) =>
  parentPort?.postMessage(outcome, transferred)

parentPort?.on("message", (document: InvoiceDocument) => {
  drawableImages(document.images)
    .then((images) => drawInvoice(fonts, document, images))
    .then(
      (pdf) => answer({ pdf }, pdf.buffer),
      (fault: unknown) => answer({ fault: String(fault) })
    )
})
