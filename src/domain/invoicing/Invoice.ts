import { Schema } from "effect"
import { ContractId } from "../contracting/Contract.ts"
import { id } from "../Ids.ts"
import { CurrencyCode } from "../money/Currency.ts"
import { maxMinor } from "../money/Money.ts"
import { body, field, integer, optional, patch, Timestamp, text, timestamps, UtcDateTime } from "../Schemas.ts"
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
  )
}

const contract = field(ContractId, "The contract that the invoice bills.")

export const Invoice = Schema.Struct({
  id: InvoiceId,
  contract,
  status: InvoiceStatus,
  invoiceNumber: optional(
    field(text(1, 100), "Number for the client, given when the invoice is finalized.", "INV-2026-000001")
  ),
  currencyCode: field(CurrencyCode, "Currency of the invoice and all its lines: that of the contract.", "EUR"),
  subtotalMinor: field(MinorAmount, "Sum of the line totals, in minor units.", 22_000),
  totalMinor: field(MinorAmount, "Amount to pay, in minor units.", 22_000),
  billableCount: field(integer(0, maxInvoiceLines), "Number of lines.", 1),
  issuedAt: optional(field(Timestamp, "When the invoice was finalized.", "2026-11-14T09:30:00.000Z")),
  ...writable,
  paidAt: optional(field(Timestamp, "When the invoice was marked as paid.")),
  ...timestamps
}).annotations({ identifier: "Invoice", description: "What a client owes under a contract. Its lines are billables." })
export type Invoice = typeof Invoice.Type

export const CreateInvoice = body({
  contractId: contract,
  currencyCode: optional(field(CurrencyCode, "Must be the currency of the contract. Default: that currency.", "EUR")),
  ...writable
}).annotations({ identifier: "CreateInvoice", description: "A new draft invoice without lines." })
export const PatchInvoice = patch(writable).annotations({
  identifier: "PatchInvoice",
  description: "The fields of a draft invoice to change."
})
