import type { DocumentLine } from "../invoicing/document/InvoiceDocument.ts"
import type { CreditedBillable } from "./CreditExplanation.ts"

/** A credited line as the note shows it: with its quantity, or with the net amount alone. */
export const creditedLine = ({ amountMinor, line, quantity }: CreditedBillable): DocumentLine => {
  const { discount: _, discountReason: __, ...rest } = line
  return {
    ...rest,
    lineTotalMinor: amountMinor,
    discountMinor: 0,
    ...(quantity === undefined ? { showsQuantity: false } : { quantity })
  }
}
