import { parentPort } from "node:worker_threads"
import type { InvoiceDocument } from "../../domain/invoicing/document/InvoiceDocument.ts"
import { prepareImages } from "./drawing/DrawableImages.ts"
import { loadFonts } from "./drawing/Fonts.ts"
import { drawInvoice } from "./drawing/InvoiceLayout.ts"
import type { RenderResult } from "./RenderResult.ts"

// Runs in a worker thread, so that rendering does not block requests. The build copies the fonts next to this file.
const fonts = loadFonts(new URL("./fonts/", import.meta.url))

const reply = (result: RenderResult, ...transferred: ReadonlyArray<ArrayBuffer>) =>
  parentPort?.postMessage(result, transferred)

parentPort?.on("message", (document: InvoiceDocument) => {
  prepareImages(document.images)
    .then((images) => drawInvoice(fonts, document, images))
    .then(
      (pdf) => reply({ pdf }, pdf.buffer),
      (error: unknown) => reply({ error: String(error) })
    )
})
