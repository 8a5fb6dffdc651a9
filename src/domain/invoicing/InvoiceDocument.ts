import type { Billable } from "./Billable.ts"
import type { Invoice } from "./Invoice.ts"
import type { Parties } from "./Parties.ts"

/** What an image is on an invoice: whose it is, and the kind of asset it came from. */
export type ImageRole = `${"tenant" | "client"}-${"logo" | "background"}`

/** The files of the images, as they were uploaded. */
export type InvoiceImages = Partial<Readonly<Record<ImageRole, Uint8Array>>>

/** Everything an invoice on paper is made of. */
export interface InvoiceDocument {
  readonly invoice: Invoice
  readonly lines: ReadonlyArray<Billable>
  readonly parties: Parties
  readonly images: InvoiceImages
}
