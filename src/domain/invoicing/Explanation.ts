import { Schema } from "effect"
import { EncodedJson } from "../EncodedJson.ts"
import { currencyDecimals } from "../money/Currency.ts"
import { formatDecimal, multiplyDecimal, roundDecimal, toDecimal } from "../money/Decimal.ts"
import { field } from "../Schemas.ts"
import { Billable } from "./Billable.ts"
import { Invoice } from "./Invoice.ts"

const Integer = Schema.Number.annotations({ jsonSchema: { type: "integer" } })

/** How the total of an invoice is computed: every product before and after rounding, and every sum. */
export const Explanation = Schema.Struct({
  invoice: Invoice.fields.id,
  currencyCode: Invoice.fields.currencyCode,
  decimals: field(Integer, "Decimals of the currency: 2 for EUR, 0 for JPY.", 2),
  rounding: field(Schema.Literal("half away from zero, once for each line"), "How and how often amounts are rounded."),
  lines: field(
    Schema.Array(
      Schema.Struct({
        billable: Billable.fields.id,
        name: Billable.fields.name,
        quantity: field(Schema.String, "Quantity as an exact decimal.", "2.5"),
        amountMinor: Billable.fields.amountMinor,
        product: field(Schema.String, "Quantity times price as an exact decimal, before rounding.", "22000"),
        roundedBy: field(Schema.String, "What rounding added to the product, as an exact decimal.", "0"),
        lineTotalMinor: field(Integer, "The product after rounding, in minor units.", 22_000),
        runningTotalMinor: field(Integer, "Sum of this line total and those before it, in minor units.", 22_000)
      }).annotations({ description: "How the total of one line is computed." })
    ),
    "Every line, in its order on the invoice."
  ),
  subtotalMinor: field(Integer, "Sum of the line totals, in minor units.", 22_000),
  totalMinor: field(Integer, "Amount to pay, in minor units.", 22_000)
}).annotations({
  identifier: "InvoiceExplanation",
  description: "How the total of an invoice is computed: every product before and after rounding, and every sum."
})

type Explanation = typeof Explanation.Type
type Line = Pick<Billable, "id" | "name" | "quantity" | "amountMinor">

/** Recomputes each line from its input and keeps a running total. Call it in the order of the lines. */
export const makeLineExplainer = () => {
  let running = 0n
  return ({ amountMinor, id, name, quantity }: Line): Explanation["lines"][number] => {
    const exact = toDecimal(quantity)
    const product = multiplyDecimal(exact, BigInt(amountMinor))
    const total = roundDecimal(product)
    running += total
    return {
      billable: id,
      name,
      quantity: formatDecimal(exact),
      amountMinor,
      product: formatDecimal(product),
      roundedBy: formatDecimal({ digits: total * 10n ** BigInt(product.scale) - product.digits, scale: product.scale }),
      lineTotalMinor: Number(total),
      runningTotalMinor: Number(running)
    }
  }
}

/** Encodes the explanation of an invoice. `lines` are JSON already. The sums are those stored with the invoice. */
export const encodeExplanation = (invoice: Invoice, lines: ReadonlyArray<string>) => {
  const { currencyCode, id, subtotalMinor, totalMinor } = invoice
  const rounding: Explanation["rounding"] = "half away from zero, once for each line"
  const head = JSON.stringify({ invoice: id, currencyCode, decimals: currencyDecimals(currencyCode), rounding })
  const sums = JSON.stringify({ subtotalMinor, totalMinor })
  return new EncodedJson<Explanation>(`${head.slice(0, -1)},"lines":[${lines.join(",")}],${sums.slice(1)}`)
}
