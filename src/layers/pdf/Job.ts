import type { InvoiceDocument } from "../../domain/invoicing/InvoiceDocument.ts"

/** What goes to the drawing thread and what comes back, told apart by their number. */
export interface Job {
  readonly number: number
  readonly document: InvoiceDocument
}

export type Outcome =
  | { readonly number: number; readonly pdf: Uint8Array }
  | { readonly number: number; readonly fault: string }
