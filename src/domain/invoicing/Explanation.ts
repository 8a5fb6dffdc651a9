import { Schema } from "effect"
import { decimalsOf } from "../money/Currency.ts"
import { decimalOf, rounded, textOf, times } from "../money/Decimal.ts"
import { Billable } from "./Billable.ts"
import { Invoice } from "./Invoice.ts"
import type { InvoiceDocument } from "./InvoiceDocument.ts"

const Exact = Schema.String.annotations({ description: "A number written out exactly, in decimals" })
const Whole = Schema.Number.annotations({ jsonSchema: { type: "integer" } })

/** How an invoice comes to what it comes to: every product before and after it was rounded, and every sum. */
export const Explanation = Schema.Struct({
  invoice: Invoice.fields.id,
  currencyCode: Invoice.fields.currencyCode,
  decimals: Whole,
  rounding: Schema.Literal("half away from zero, once for each line"),
  lines: Schema.Array(
    Schema.Struct({
      billable: Billable.fields.id,
      name: Billable.fields.name,
      quantity: Exact,
      amountMinor: Whole,
      product: Exact,
      roundedBy: Exact,
      lineTotalMinor: Whole,
      runningTotalMinor: Whole
    })
  ),
  subtotalMinor: Whole,
  totalMinor: Whole
}).annotations({ identifier: "Explanation" })

/** Works out each line anew, from what was entered; the sums are those that were kept. */
export const explain = ({ invoice, lines }: Pick<InvoiceDocument, "invoice" | "lines">): typeof Explanation.Type => {
  let running = 0n
  return {
    invoice: invoice.id,
    currencyCode: invoice.currencyCode,
    decimals: decimalsOf(invoice.currencyCode),
    rounding: "half away from zero, once for each line",
    lines: lines.map(({ amountMinor, id, name, quantity }) => {
      const exact = decimalOf(quantity)
      const product = times(exact, BigInt(amountMinor))
      const total = rounded(product)
      running += total
      return {
        billable: id,
        name,
        quantity: textOf(exact),
        amountMinor,
        product: textOf(product),
        roundedBy: textOf({ digits: total * 10n ** BigInt(product.scale) - product.digits, scale: product.scale }),
        lineTotalMinor: Number(total),
        runningTotalMinor: Number(running)
      }
    }),
    subtotalMinor: invoice.subtotalMinor,
    totalMinor: invoice.totalMinor
  }
}
