import type { CreditNote } from "../../creditNotes/CreditNote.ts"
import type { Invoice } from "../Invoice.ts"

const fileNameOf = (number: string, extension: "pdf" | "xml") => `${number.replace(/[^\w.-]/g, "_")}.${extension}`

/** The file name of an invoice's PDF, in downloads and in Google Drive. */
export const pdfNameOf = ({ id, invoiceNumber = id }: Pick<Invoice, "id" | "invoiceNumber">) =>
  fileNameOf(invoiceNumber, "pdf")

export const xmlNameOf = ({ id, invoiceNumber = id }: Pick<Invoice, "id" | "invoiceNumber">) =>
  fileNameOf(invoiceNumber, "xml")

export const creditNotePdfName = ({ creditNoteNumber, id }: Pick<CreditNote, "id" | "creditNoteNumber">) =>
  fileNameOf(creditNoteNumber ?? id, "pdf")

export const creditNoteXmlName = ({ creditNoteNumber, id }: Pick<CreditNote, "id" | "creditNoteNumber">) =>
  fileNameOf(creditNoteNumber ?? id, "xml")
