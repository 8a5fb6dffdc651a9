import type { InvoiceDocument } from "../../domain/invoicing/document/InvoiceDocument.ts"
import type { StatementDocument } from "../../domain/reports/StatementDocument.ts"

/** What the render threads can draw. */
export type PdfDocument = InvoiceDocument | StatementDocument

/** The number of lines, which determines how long a document takes. */
export const lineCountOf = (document: PdfDocument) =>
  "statement" in document
    ? document.statement.currencies.reduce((count, { entries }) => count + entries.length, 0)
    : document.lines.length
