import { constants, setPriority } from "node:os"
import { parentPort } from "node:worker_threads"
import { prepareImages } from "./drawing/DrawableImages.ts"
import { loadFonts } from "./drawing/Fonts.ts"
import { drawInvoice } from "./drawing/InvoiceLayout.ts"
import { drawStatement } from "./drawing/StatementLayout.ts"
import { encodeAttachment, encodeEInvoice } from "./EInvoiceEncoding.ts"
import type { PdfDocument } from "./PdfDocument.ts"
import type { RenderResult } from "./RenderResult.ts"

// Runs in a worker thread, so that rendering does not block requests. On Linux, threads have priorities of their own: this
// one gets what the requests leave of the CPU. The build copies the fonts next to this file.
if (process.platform === "linux") setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
const fonts = loadFonts(new URL("./fonts/", import.meta.url))

const reply = (result: RenderResult, ...transferred: ReadonlyArray<ArrayBuffer>) =>
  parentPort?.postMessage(result, transferred)

const draw = async (document: PdfDocument) => {
  if ("eInvoice" in document) return encodeEInvoice(document)
  return "statement" in document
    ? drawStatement(fonts, document)
    : drawInvoice(fonts, document, {
        images: await prepareImages(document.images),
        eInvoice: encodeAttachment(document)
      })
}

parentPort?.on("message", (document: PdfDocument) => {
  draw(document).then(
    (pdf) => reply({ pdf }, pdf.buffer),
    (error: unknown) => reply({ error: String(error) })
  )
})
