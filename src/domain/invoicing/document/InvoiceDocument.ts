import type { CreditNote } from "../../creditNotes/CreditNote.ts"
import type { Billable } from "../Billable.ts"
import type { Invoice } from "../Invoice.ts"
import type { Parties } from "./Parties.ts"

/** The role of an image on an invoice: its owner and its kind. */
export type ImageRole = `${"tenant" | "client"}-${"logo" | "background"}`

/** The uploaded image files. */
export type InvoiceImages = Partial<Readonly<Record<ImageRole, Uint8Array>>>

/** A line as the document shows it. */
export interface DocumentLine extends Billable {
  /** False for a line that is credited by amount. */
  readonly showsQuantity?: boolean
}

/** The input of the PDF of an invoice, or of a credit note on it. */
export interface InvoiceDocument {
  readonly invoice: Invoice
  readonly creditNote?: CreditNote
  readonly lines: ReadonlyArray<DocumentLine>
  readonly parties: Parties
  readonly images: InvoiceImages
}

/** What the document is about, with its amounts: the credit note, or else the invoice. */
export const shownDocument = ({ creditNote, invoice }: Pick<InvoiceDocument, "creditNote" | "invoice">) =>
  creditNote ?? invoice
