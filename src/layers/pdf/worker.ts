import { parentPort } from "node:worker_threads"
import { loadFonts } from "./drawing/Fonts.ts"
import { drawableImages } from "./drawing/Images.ts"
import { drawInvoice } from "./drawing/Invoice.ts"
import type { Job, Outcome } from "./Job.ts"

// A thread of its own, so that drawing keeps no request waiting. The build puts the fonts beside it.
const fonts = loadFonts(new URL("./fonts/", import.meta.url))

const answer = (outcome: Outcome) => parentPort?.postMessage(outcome)

parentPort?.on("message", ({ document, number }: Job) => {
  drawableImages(document.images)
    .then((images) => drawInvoice(fonts, document, images))
    .then(
      (pdf) => answer({ number, pdf }),
      (fault: unknown) => answer({ number, fault: String(fault) })
    )
})
