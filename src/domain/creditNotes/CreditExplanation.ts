import { Either, Schema } from "effect"
import { exampleId } from "../Ids.ts"
import { Billable } from "../invoicing/Billable.ts"
import { allTaxSets, type TaxSet } from "../invoicing/draft/TaxSets.ts"
import { explainRounding, rounding } from "../invoicing/Explanation.ts"
import { currencyDecimals } from "../money/CurrencyDecimals.ts"
import { type InvoiceAmounts, percentProduct, splitDiscount } from "../money/InvoiceArithmetic.ts"
import { field } from "../Schemas.ts"
import { type CreditableInvoice, creditNoteAmounts } from "./Crediting.ts"
import { CreditNote } from "./CreditNote.ts"

const Integer = Schema.Number.annotations({ jsonSchema: { type: "integer" } })

/** A line of the invoice, and what a note credits of it. */
export interface CreditedBillable {
  readonly line: Billable
  readonly quantity?: number
  readonly amountMinor: number
  readonly beforeMinor: number
}

const minor = (description: string, example: number) => field(Integer, `${description}, in minor units.`, example)

const TaxStep = (when: string) =>
  Schema.Struct({
    baseMinor: minor(`Base of everything credited ${when}`, 7128),
    product: field(Schema.String, "Base times percentage as an exact decimal, before rounding.", "1354.32"),
    roundedBy: field(Schema.String, "What rounding added to the product, as an exact decimal.", "-0.32"),
    taxMinor: minor("The product after rounding", 1354)
  }).annotations({ description: `The tax on everything credited ${when}.` })

export const CreditExplanation = Schema.Struct({
  creditNote: CreditNote.fields.id,
  invoice: CreditNote.fields.invoice,
  currencyCode: CreditNote.fields.currencyCode,
  decimals: field(Integer, "Decimals of the currency: 2 for EUR, 0 for JPY.", 2),
  rounding: field(Schema.Literal(rounding), "How and how often amounts are rounded."),
  lines: field(
    Schema.Array(
      Schema.Struct({
        billable: Billable.fields.id,
        name: Billable.fields.name,
        quantity: Schema.optionalWith(
          field(Schema.Number, "The credited quantity, if the line is credited by quantity.", 1),
          { exact: true }
        ),
        lineTotalMinor: minor("Net amount of the line on the invoice", 19_800),
        beforeMinor: minor("What earlier notes credited of it", 0),
        amountMinor: minor("What this note credits of it", 7920)
      }).annotations({ description: "What is credited of one line." })
    ),
    "Every credited line, in its order on the invoice."
  ),
  taxSets: field(
    Schema.Array(
      Schema.Struct({
        taxRates: field(Schema.Array(Schema.String), "The tax rates. Empty for lines without tax.", [exampleId("tax")]),
        netMinor: minor("Sum of the line totals on the invoice", 19_800),
        discountMinor: minor("Their share of the invoice's discount", 1980),
        beforeMinor: minor("What earlier notes credited of the sum", 0),
        amountMinor: minor("What this note credits of it", 7920),
        creditedDiscountMinor: minor("The share of the discount that this note takes back", 792)
      }).annotations({ description: "The lines with the same tax rates." })
    ),
    "The lines by their combination of tax rates. The share of the discount is rounded for everything credited so far."
  ),
  taxes: field(
    Schema.Array(
      Schema.Struct({
        name: field(Schema.String, "Name of the tax.", "VAT 19 %"),
        percent: field(Schema.Number, "Percentage of the tax.", 19),
        before: field(TaxStep("by earlier notes"), "The tax on everything credited by earlier notes."),
        after: field(TaxStep("with this note"), "The tax on everything credited with this note."),
        taxMinor: minor("What this note credits: the tax with it, less the tax before it", 1354)
      }).annotations({ description: "How one tax is computed." })
    ),
    "Every tax of the invoice, in its order."
  ),
  subtotalMinor: CreditNote.fields.subtotalMinor,
  discountMinor: CreditNote.fields.discountMinor,
  taxMinor: CreditNote.fields.taxMinor,
  totalMinor: CreditNote.fields.totalMinor
}).annotations({
  identifier: "CreditNoteExplanation",
  description:
    "How the total of a credit note is computed: everything credited with it, less what was credited before it."
})
type CreditExplanation = typeof CreditExplanation.Type

const explainTaxes = (before: InvoiceAmounts, after: InvoiceAmounts): CreditExplanation["taxes"] =>
  after.taxes.map(({ baseMinor, name, percent, taxMinor }, index) => {
    const { baseMinor: earlierBase = 0, taxMinor: earlierTax = 0 } = before.taxes[index] ?? {}
    const step = (base: number, tax: number) => ({
      baseMinor: base,
      ...explainRounding(percentProduct(base, percent)),
      taxMinor: tax
    })
    return {
      name,
      percent,
      before: step(earlierBase, earlierTax),
      after: step(baseMinor, taxMinor),
      taxMinor: taxMinor - earlierTax
    }
  })

/** Explains a note that brought what is credited of its invoice from `before` to `after`. */
export const explainCreditNote = (
  note: CreditNote,
  { invoice, taxSets }: Pick<CreditableInvoice, "invoice" | "taxSets">,
  [before, after]: readonly [before: ReadonlyArray<TaxSet>, after: ReadonlyArray<TaxSet>],
  lines: ReadonlyArray<CreditedBillable>
): CreditExplanation => {
  const sets = allTaxSets(taxSets, invoice)
  const shares = splitDiscount(
    invoice.discountMinor,
    sets.map(({ netMinor }) => netMinor)
  )
  // The amounts were in range when the note was computed.
  const amounts = Either.getOrThrow(creditNoteAmounts({ invoice, taxSets }, before, after))
  const { currencyCode, discountMinor, id, subtotalMinor, taxMinor, totalMinor } = note
  return {
    creditNote: id,
    invoice: note.invoice,
    currencyCode,
    decimals: currencyDecimals(currencyCode),
    rounding,
    lines: lines.map(({ amountMinor, beforeMinor, line, quantity }) => ({
      billable: line.id,
      name: line.name,
      ...(quantity === undefined ? {} : { quantity }),
      lineTotalMinor: line.lineTotalMinor,
      beforeMinor,
      amountMinor
    })),
    taxSets: sets.map(({ netMinor, taxRates }, index) => ({
      taxRates,
      netMinor,
      discountMinor: shares[index] ?? 0,
      beforeMinor: before[index]?.netMinor ?? 0,
      amountMinor: (after[index]?.netMinor ?? 0) - (before[index]?.netMinor ?? 0),
      creditedDiscountMinor: amounts.note.discountShares[index] ?? 0
    })),
    taxes: explainTaxes(amounts.before, amounts.after),
    subtotalMinor,
    discountMinor,
    taxMinor,
    totalMinor
  }
}
