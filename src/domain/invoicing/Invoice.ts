import { Schema } from "effect"
import { ContractId } from "../contracting/Contract.ts"
import { exampleId, id } from "../Ids.ts"
import { CurrencyCode } from "../money/Currency.ts"
import { maxMinor } from "../money/Money.ts"
import { body, field, integer, optional, patch, Timestamp, text, timestamps, UtcDateTime } from "../Schemas.ts"
import { TaxCategory } from "../taxes/TaxRate.ts"
import { discountFields } from "./Discount.ts"
import { headerFields } from "./InvoiceHeader.ts"
import { InvoiceStatus } from "./InvoiceStatus.ts"

export const InvoiceId = id("inv", "invoice")

/** Upper bound of the quota `invoiceLines`. It bounds the cost of operations on all lines of an invoice. */
export const maxInvoiceLines = 20_000

const MinorAmount = integer(-maxMinor, maxMinor)

const writable = {
  dueAt: optional(
    field(
      UtcDateTime,
      "When payment is due. Without it, the payment term of the contract sets it when the invoice is finalized.",
      "2026-12-14T09:30:00.000Z"
    )
  ),
  ...headerFields,
  ...discountFields("the sum of the lines, before tax")
}

/** The fields that a list of invoices can be sorted by. */
export const invoiceSorts = ["createdAt", "issuedAt", "dueAt"] as const

const PositiveAmount = integer(0, maxMinor)

/** A row of the tax table of an invoice. */
const Tax = Schema.Struct({
  taxRates: field(
    Schema.Array(Schema.String),
    "Tax rates with this category, or else this name, and this percentage.",
    [exampleId("tax")]
  ),
  name: field(Schema.String, "Name of the tax.", "VAT 19 %"),
  percent: field(Schema.Number, "Percentage of the tax.", 19),
  category: optional(TaxCategory),
  exemptionReason: optional(field(Schema.String, "Why no tax is charged.")),
  exemptionCode: optional(field(Schema.String, "Code of that reason for electronic invoices.")),
  baseMinor: field(MinorAmount, "Net amount that the tax is charged on, less its share of the discount.", 17_820),
  taxMinor: field(MinorAmount, "The tax: base times percentage, rounded once, half away from zero.", 3386)
}).annotations({ description: "A tax on the lines that have it." })

const contract = field(ContractId, "The contract that the invoice bills.")

export const Invoice = Schema.Struct({
  id: InvoiceId,
  contract,
  status: InvoiceStatus,
  invoiceNumber: optional(
    field(text(1, 100), "Number for the client, given when the invoice is finalized.", "INV-2026-000001")
  ),
  currencyCode: field(CurrencyCode, "Currency of the invoice and all its lines: that of the contract.", "EUR"),
  subtotalMinor: field(MinorAmount, "Sum of the line totals, in minor units.", 19_800),
  discountMinor: field(PositiveAmount, "What the discount takes off the subtotal, in minor units.", 1980),
  taxes: field(
    Schema.Array(Tax),
    "Taxes by VAT category or name, and percentage: VAT first, then other taxes by name, higher percentages first."
  ),
  taxMinor: field(MinorAmount, "Sum of the taxes, in minor units.", 3386),
  totalMinor: field(MinorAmount, "Amount to pay: subtotal less discount plus taxes, in minor units.", 21_206),
  paidMinor: field(PositiveAmount, "What payments settled, in minor units.", 0),
  creditedMinor: field(PositiveAmount, "What credit notes settled, in minor units.", 0),
  writtenOffMinor: field(PositiveAmount, "What was written off, in minor units.", 0),
  balanceMinor: field(PositiveAmount, "What is still to be paid, in minor units. 0 for a VOID invoice.", 21_206),
  billableCount: field(integer(0, maxInvoiceLines), "Number of lines.", 1),
  issuedAt: optional(field(Timestamp, "When the invoice was finalized.", "2026-11-14T09:30:00.000Z")),
  ...writable,
  paidAt: optional(field(Timestamp, "When the balance became 0.")),
  ...timestamps
}).annotations({ identifier: "Invoice", description: "What a client owes under a contract. Its lines are billables." })
export type Invoice = typeof Invoice.Type

/** What settles an invoice. */
export type SettledSums = Pick<Invoice, "paidMinor" | "creditedMinor" | "writtenOffMinor">

/** What is still to be paid. The SQL expression of the column says the same. */
export const balanceOf = ({
  creditedMinor,
  paidMinor,
  status,
  totalMinor,
  writtenOffMinor
}: SettledSums & Pick<Invoice, "status" | "totalMinor">) =>
  status === "VOID" ? 0 : Math.max(totalMinor - paidMinor - creditedMinor - writtenOffMinor, 0)

export const CreateInvoice = body({
  contractId: contract,
  currencyCode: optional(field(CurrencyCode, "Must be the currency of the contract. Default: that currency.", "EUR")),
  ...writable
}).annotations({ identifier: "CreateInvoice", description: "A new draft invoice without lines." })
export const PatchInvoice = patch(writable).annotations({
  identifier: "PatchInvoice",
  description: "The fields of a draft invoice to change."
})
