import type { Invoice } from "../Invoice.ts"

/** The file name of an invoice's PDF, in downloads and in Google Drive. */
export const pdfNameOf = ({ id, invoiceNumber = id }: Pick<Invoice, "id" | "invoiceNumber">) =>
  `${invoiceNumber.replace(/[^\w.-]/g, "_")}.pdf`
