import type { InvoiceDocument } from "../../src/domain/invoicing/InvoiceDocument.ts"
import { loadFonts } from "../../src/layers/pdf/drawing/Fonts.ts"
import { drawInvoice } from "../../src/layers/pdf/drawing/InvoiceLayout.ts"
import { readPdf } from "./pdfText.ts"

export const fonts = loadFonts(new URL("../../node_modules/dejavu-fonts-ttf/ttf/", import.meta.url))

/** An invoice drawn in this thread, and read again. */
export const drawnInvoice = async (document: InvoiceDocument) =>
  (await readPdf(await drawInvoice(fonts, document))).pages
