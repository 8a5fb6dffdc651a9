import { Schema } from "effect"
import { ClientId } from "../contracting/Client.ts"
import { CurrencyCode } from "../money/Currency.ts"
import { type VatCategory, vatCategories } from "../money/InvoiceArithmetic.ts"
import { field, optional, text } from "../Schemas.ts"
import { TaxCategory } from "../taxes/TaxRate.ts"
import { ReportAmount } from "./ReportAmount.ts"

export const revenueGroupings = ["currency", "month"] as const

const amounts = {
  currencyCode: field(CurrencyCode, "Currency of the amounts.", "EUR"),
  invoicedMinor: field(
    ReportAmount,
    "Net amounts of the invoices that were finalized: subtotal less discount, in minor units.",
    17_820
  ),
  voidedMinor: field(ReportAmount, "Net amounts of the invoices that were voided, as a negative number.", 0),
  creditedMinor: field(ReportAmount, "Net amounts of the credit notes, as a negative number.", 0),
  netMinor: field(ReportAmount, "Revenue: the sum of the three amounts, in minor units.", 17_820),
  taxMinor: field(ReportAmount, "Taxes on it, in minor units.", 3386),
  grossMinor: field(ReportAmount, "Revenue with taxes, in minor units.", 21_206)
}

export const Revenue = Schema.Struct({
  month: optional(field(Schema.String, "The month in the time zone of the tenant, in a report by month.", "2026-11")),
  ...amounts
}).annotations({ identifier: "Revenue", description: "What was invoiced in a currency." })
export type Revenue = typeof Revenue.Type

export const ClientRevenue = Schema.Struct({
  client: field(ClientId, "The client."),
  clientName: field(text(1, 200), "Name of the client.", "Northwind"),
  ...amounts
}).annotations({ identifier: "ClientRevenue", description: "What was invoiced to a client in a currency." })
export type ClientRevenue = typeof ClientRevenue.Type

export const TaxSum = Schema.Struct({
  currencyCode: field(CurrencyCode, "Currency of the amounts.", "EUR"),
  category: optional(TaxCategory),
  name: field(
    Schema.String,
    "Name of the tax. If taxes of one category and percentage have several names, the first by alphabet.",
    "VAT 19 %"
  ),
  percent: field(Schema.Number, "Percentage of the tax.", 19),
  invoicedBaseMinor: field(ReportAmount, "Net amounts of finalized invoices that the tax is charged on.", 17_820),
  invoicedTaxMinor: field(ReportAmount, "Tax of finalized invoices, in minor units.", 3386),
  voidedBaseMinor: field(ReportAmount, "Net amounts of voided invoices, as a negative number.", 0),
  voidedTaxMinor: field(ReportAmount, "Tax of voided invoices, as a negative number.", 0),
  creditedBaseMinor: field(ReportAmount, "Net amounts of credit notes, as a negative number.", 0),
  creditedTaxMinor: field(ReportAmount, "Tax of credit notes, as a negative number.", 0),
  baseMinor: field(ReportAmount, "Sum of the net amounts, in minor units.", 17_820),
  taxMinor: field(ReportAmount, "Sum of the taxes, in minor units.", 3386)
}).annotations({
  identifier: "TaxSum",
  description:
    "What a tax was charged on in a currency, and the tax. One item for each category, or else name, and percentage."
})
export type TaxSum = typeof TaxSum.Type

const rankOf = (category: VatCategory | undefined) =>
  category === undefined ? vatCategories.length : vatCategories.indexOf(category)

const compareTexts = (a: string, b: string) => (a === b ? 0 : a < b ? -1 : 1)

/** By currency, then in the order in which invoices list their taxes. */
export const compareTaxSums = (a: TaxSum, b: TaxSum) =>
  compareTexts(a.currencyCode, b.currencyCode) ||
  rankOf(a.category) - rankOf(b.category) ||
  (a.category === undefined ? compareTexts(a.name, b.name) : 0) ||
  b.percent - a.percent
