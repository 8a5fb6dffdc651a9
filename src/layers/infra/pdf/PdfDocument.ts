import type { InvoiceDocument } from "../../../domain/invoicing/document/InvoiceDocument.ts"
import type { StatementDocument } from "../../../domain/reports/StatementDocument.ts"
import { maxLineBreaks } from "./drawing/TextWrapping.ts"
import type { EInvoiceDocument } from "./EInvoiceEncoding.ts"

/** What the render threads produce: PDFs, and the XML of invoices, which takes as long. */
export type PdfDocument = InvoiceDocument | StatementDocument | EInvoiceDocument

/** Fewer than fit into the narrowest column of descriptions. */
const charactersPerRow = 32

const countRows = (text: string) => {
  let breaks = 0
  for (let at = text.indexOf("\n"); at >= 0 && breaks < maxLineBreaks; at = text.indexOf("\n", at + 1)) breaks++
  return breaks + Math.ceil(text.length / charactersPerRow)
}

/** The number of rows of text at most, which determines how long a document takes. */
export const rowCountOf = (document: PdfDocument) => {
  if ("statement" in document)
    return document.statement.currencies.reduce((count, { entries }) => count + entries.length, 0)
  const { lines } = "eInvoice" in document ? document.eInvoice : document
  return lines.reduce((rows, { description = "", name }) => rows + 1 + countRows(name) + countRows(description), 0)
}
