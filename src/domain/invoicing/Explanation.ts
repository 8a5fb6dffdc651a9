import { Schema } from "effect"
import { JsonText } from "../JsonText.ts"
import { decimalsOf } from "../money/Currency.ts"
import { decimalOf, rounded, textOf, times } from "../money/Decimal.ts"
import { Billable } from "./Billable.ts"
import { Invoice } from "./Invoice.ts"

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

type Explanation = typeof Explanation.Type
type Line = Pick<Billable, "id" | "name" | "quantity" | "amountMinor">

/** Works out each line anew, from what was entered, in the order it is given them. */
export const lineExplainer = () => {
  let running = 0n
  return ({ amountMinor, id, name, quantity }: Line): Explanation["lines"][number] => {
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
  }
}

/** The explanation of an invoice, whose lines are JSON already; the sums are those that were kept. */
export const explanationText = (invoice: Invoice, lines: ReadonlyArray<string>) => {
  const { currencyCode, id, subtotalMinor, totalMinor } = invoice
  const rounding: Explanation["rounding"] = "half away from zero, once for each line"
  const head = JSON.stringify({ invoice: id, currencyCode, decimals: decimalsOf(currencyCode), rounding })
  const sums = JSON.stringify({ subtotalMinor, totalMinor })
  return new JsonText<Explanation>(`${head.slice(0, -1)},"lines":[${lines.join(",")}],${sums.slice(1)}`)
}
