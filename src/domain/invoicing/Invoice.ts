import { Schema } from "effect"
import { ContractId } from "../contracting/Contract.ts"
import { id } from "../Ids.ts"
import { CurrencyCode } from "../money/Currency.ts"
import { maxMinor } from "../money/Money.ts"
import { body, integer, optional, patch, Timestamp, text, timestamps, UtcDateTime } from "../Schemas.ts"
import { InvoiceStatus } from "./InvoiceStatus.ts"

export const InvoiceId = id("inv", "invoice")

/** Upper bound of the quota `invoiceLines`. It bounds the cost of operations on all lines of an invoice. */
export const maxInvoiceLines = 20_000

const MinorAmount = integer(-maxMinor, maxMinor)

/** Without `dueAt`, the payment term of the contract sets the due date. */
const writable = { dueAt: optional(UtcDateTime) }

export const Invoice = Schema.Struct({
  id: InvoiceId,
  contract: ContractId,
  status: InvoiceStatus,
  invoiceNumber: optional(text(1, 100)),
  currencyCode: CurrencyCode,
  subtotalMinor: MinorAmount,
  totalMinor: MinorAmount,
  billableCount: integer(0, maxInvoiceLines),
  issuedAt: optional(Timestamp),
  ...writable,
  paidAt: optional(Timestamp),
  ...timestamps
}).annotations({ identifier: "Invoice" })
export type Invoice = typeof Invoice.Type

export const CreateInvoice = body({
  contractId: ContractId,
  currencyCode: optional(CurrencyCode),
  ...writable
}).annotations({ identifier: "CreateInvoice" })
export const PatchInvoice = patch(writable).annotations({ identifier: "PatchInvoice" })
