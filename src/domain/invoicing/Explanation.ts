import { Schema } from "effect"
import { EncodedJson } from "../EncodedJson.ts"
import { exampleId } from "../Ids.ts"
import { currencyDecimals } from "../money/CurrencyDecimals.ts"
import { type Decimal, formatDecimal, multiplyDecimal, roundDecimal, toDecimal } from "../money/Decimal.ts"
import { invoiceAmounts, lineAmounts, percentProduct, type Tax } from "../money/InvoiceArithmetic.ts"
import { field } from "../Schemas.ts"
import { Billable } from "./Billable.ts"
import { applyToTaxSets, type TaxSet, termsOf, withTerms } from "./draft/TaxSets.ts"
import { Invoice } from "./Invoice.ts"

const Integer = Schema.Number.annotations({ jsonSchema: { type: "integer" } })

export const rounding = "half away from zero, once for each line, each discount and each tax"

const roundedBy = (example: string) =>
  field(Schema.String, "What rounding added to the product, as an exact decimal.", example)

/** How the total of an invoice is computed: every product before and after rounding, every share and every sum. */
export const Explanation = Schema.Struct({
  invoice: Invoice.fields.id,
  currencyCode: Invoice.fields.currencyCode,
  decimals: field(Integer, "Decimals of the currency: 2 for EUR, 0 for JPY.", 2),
  rounding: field(Schema.Literal(rounding), "How and how often amounts are rounded."),
  lines: field(
    Schema.Array(
      Schema.Struct({
        billable: Billable.fields.id,
        name: Billable.fields.name,
        quantity: field(Schema.String, "Quantity as an exact decimal.", "2.5"),
        amountMinor: Billable.fields.amountMinor,
        product: field(Schema.String, "Quantity times price as an exact decimal, before rounding.", "22000"),
        roundedBy: roundedBy("0"),
        discountMinor: Billable.fields.discountMinor,
        lineTotalMinor: field(Integer, "The product after rounding, less the discount, in minor units.", 19_800),
        runningTotalMinor: field(Integer, "Sum of this line total and those before it, in minor units.", 19_800)
      }).annotations({ description: "How the total of one line is computed." })
    ),
    "Every line, in its order on the invoice."
  ),
  subtotalMinor: field(Integer, "Sum of the line totals, in minor units.", 19_800),
  discountMinor: Invoice.fields.discountMinor,
  taxSets: field(
    Schema.Array(
      Schema.Struct({
        taxRates: field(Schema.Array(Schema.String), "The tax rates. Empty for lines without tax.", [exampleId("tax")]),
        netMinor: field(Integer, "Sum of the line totals, in minor units.", 19_800),
        discountMinor: field(Integer, "Share of the invoice's discount, by weight of the net amount.", 1980)
      }).annotations({ description: "The lines with the same tax rates." })
    ),
    "The lines by their combination of tax rates, and how the discount is split over them."
  ),
  taxes: field(
    Schema.Array(
      Schema.Struct({
        name: field(Schema.String, "Name of the tax.", "VAT 19 %"),
        percent: field(Schema.Number, "Percentage of the tax.", 19),
        baseMinor: field(Integer, "Net amount less discount of the sets that have the tax, in minor units.", 17_820),
        product: field(Schema.String, "Base times percentage as an exact decimal, before rounding.", "3385.8"),
        roundedBy: roundedBy("0.2"),
        taxMinor: field(Integer, "The product after rounding, in minor units.", 3386)
      }).annotations({ description: "How one tax is computed." })
    ),
    "Every tax, in the order of the invoice."
  ),
  taxMinor: field(Integer, "Sum of the taxes, in minor units.", 3386),
  totalMinor: field(Integer, "Amount to pay: subtotal less discount plus taxes, in minor units.", 21_206)
}).annotations({
  identifier: "InvoiceExplanation",
  description: "How the total of an invoice is computed: every product before and after rounding, and every sum."
})

type Explanation = typeof Explanation.Type
type Line = Pick<Billable, "id" | "name" | "quantity" | "amountMinor" | "discount" | "taxRates">

/** The exact product, and what rounding adds to it. */
export const explainRounding = (product: Decimal) => ({
  product: formatDecimal(product),
  roundedBy: formatDecimal({
    digits: roundDecimal(product) * 10n ** BigInt(product.scale) - product.digits,
    scale: product.scale
  })
})

/** Recomputes the amounts of an invoice from its lines. */
export class InvoiceExplainer {
  #running = 0n
  /** The lines so far, each as a tax set of its own. */
  readonly #lines: Array<TaxSet> = []

  /** Explains the next line, in the order of the lines. */
  explainLine(line: Line): Explanation["lines"][number] {
    const { amountMinor, id, name, quantity, taxRates } = line
    const exact = toDecimal(quantity)
    const { discountMinor = 0, lineTotalMinor = 0 } = lineAmounts(line) ?? {}
    this.#running += BigInt(lineTotalMinor)
    this.#lines.push({ taxRates, netMinor: lineTotalMinor, lineCount: 1 })
    return {
      billable: id,
      name,
      quantity: formatDecimal(exact),
      amountMinor,
      ...explainRounding(multiplyDecimal(exact, BigInt(amountMinor))),
      discountMinor,
      lineTotalMinor,
      runningTotalMinor: Number(this.#running)
    }
  }

  /** Encodes the explanation. `lines` are JSON already. The sums are those stored with the invoice. */
  encode(invoice: Invoice, lines: ReadonlyArray<string>) {
    const { currencyCode, discountMinor, id, subtotalMinor, taxMinor, totalMinor } = invoice
    const head = { invoice: id, currencyCode, decimals: currencyDecimals(currencyCode), rounding }
    const sums = { subtotalMinor, discountMinor, ...this.#explainTaxes(invoice), taxMinor, totalMinor }
    return new EncodedJson<Explanation>(
      `${JSON.stringify(head).slice(0, -1)},"lines":[${lines.join(",")}],${JSON.stringify(sums).slice(1)}`
    )
  }

  #explainTaxes({ discount, taxes }: Invoice): Pick<Explanation, "taxSets" | "taxes"> {
    const sets = applyToTaxSets([], this.#lines) ?? []
    const computed = invoiceAmounts(withTerms(sets, termsOf(taxes)), discount)
    const explainTax = ({ baseMinor, name, percent, taxMinor }: Tax) => ({
      name,
      percent,
      baseMinor,
      ...explainRounding(percentProduct(baseMinor, percent)),
      taxMinor
    })
    return {
      taxSets: sets.map(({ netMinor, taxRates }, index) => ({
        taxRates,
        netMinor,
        discountMinor: computed?.discountShares[index] ?? 0
      })),
      taxes: (computed?.taxes ?? []).map(explainTax)
    }
  }
}
