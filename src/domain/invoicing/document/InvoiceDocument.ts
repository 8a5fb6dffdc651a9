import type { Billable } from "../Billable.ts"
import type { Invoice } from "../Invoice.ts"
import type { Parties } from "./Parties.ts"

/** The role of an image on an invoice: its owner and its kind. */
export type ImageRole = `${"tenant" | "client"}-${"logo" | "background"}`

/** The uploaded image files. */
export type InvoiceImages = Partial<Readonly<Record<ImageRole, Uint8Array>>>

/** The input of the PDF of an invoice. */
export interface InvoiceDocument {
  readonly invoice: Invoice
  readonly lines: ReadonlyArray<Billable>
  readonly parties: Parties
  readonly images: InvoiceImages
}
