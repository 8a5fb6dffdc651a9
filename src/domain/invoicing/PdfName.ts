import type { Invoice } from "./Invoice.ts"

/** What the file of an invoice is called wherever it is kept. */
export const pdfNameOf = ({ id, invoiceNumber = id }: Pick<Invoice, "id" | "invoiceNumber">) =>
  `${invoiceNumber.replace(/[^\w.-]/g, "_")}.pdf`
