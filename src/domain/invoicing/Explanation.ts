import { Schema } from "effect"
import { EncodedJson } from "../EncodedJson.ts"
import { currencyDecimals } from "../money/Currency.ts"
import { formatDecimal, multiplyDecimal, roundDecimal, toDecimal } from "../money/Decimal.ts"
import { Billable } from "./Billable.ts"
import { Invoice } from "./Invoice.ts"

const ExactDecimal = Schema.String.annotations({ description: "A number written out exactly, in decimals" })
const Integer = Schema.Number.annotations({ jsonSchema: { type: "integer" } })

/** How the total of an invoice is computed: every product before and after rounding, and every sum. */
export const Explanation = Schema.Struct({
  invoice: Invoice.fields.id,
  currencyCode: Invoice.fields.currencyCode,
  decimals: Integer,
  rounding: Schema.Literal("half away from zero, once for each line"),
  lines: Schema.Array(
    Schema.Struct({
      billable: Billable.fields.id,
      name: Billable.fields.name,
      quantity: ExactDecimal,
      amountMinor: Integer,
      product: ExactDecimal,
      roundedBy: ExactDecimal,
      lineTotalMinor: Integer,
      runningTotalMinor: Integer
    })
  ),
  subtotalMinor: Integer,
  totalMinor: Integer
}).annotations({ identifier: "Explanation" })

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
