import type { Billable } from "./Billable.ts"
import type { Invoice } from "./Invoice.ts"
import type { Parties } from "./Parties.ts"

/** Everything an invoice on paper is made of. */
export interface InvoiceDocument {
  readonly invoice: Invoice
  readonly lines: ReadonlyArray<Billable>
  readonly parties: Parties
}
