import type { InvoiceDocument } from "../../domain/invoicing/document/InvoiceDocument.ts"
import type { StatementDocument } from "../../domain/reports/StatementDocument.ts"
import type { EInvoiceDocument } from "./EInvoiceEncoding.ts"

/** What the render threads produce: PDFs, and the XML of invoices, which takes as long. */
export type PdfDocument = InvoiceDocument | StatementDocument | EInvoiceDocument

/** The number of lines, which determines how long a document takes. */
export const lineCountOf = (document: PdfDocument) => {
  if ("statement" in document)
    return document.statement.currencies.reduce((count, { entries }) => count + entries.length, 0)
  return ("eInvoice" in document ? document.eInvoice : document).lines.length
}
