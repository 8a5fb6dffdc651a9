import type { CreditNote } from "../../creditNotes/CreditNote.ts"
import type { Invoice } from "../Invoice.ts"

const fileNameOf = (number: string) => `${number.replace(/[^\w.-]/g, "_")}.pdf`

/** The file name of an invoice's PDF, in downloads and in Google Drive. */
export const pdfNameOf = ({ id, invoiceNumber = id }: Pick<Invoice, "id" | "invoiceNumber">) =>
  fileNameOf(invoiceNumber)

export const creditNotePdfName = ({ creditNoteNumber, id }: Pick<CreditNote, "id" | "creditNoteNumber">) =>
  fileNameOf(creditNoteNumber ?? id)
