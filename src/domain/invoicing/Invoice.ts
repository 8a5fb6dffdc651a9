import { Schema } from "effect"
import { ContractId } from "../contracting/Contract.ts"
import { id } from "../Ids.ts"
import { CurrencyCode } from "../money/Currency.ts"
import { mostMinor } from "../money/Money.ts"
import { body, integer, Moment, optional, patch, stamps, Timestamp, text } from "../Schemas.ts"
import { InvoiceStatus } from "./InvoiceStatus.ts"

export const InvoiceId = id("inv", "invoice")

/** No quota lets an invoice have more lines, so that whatever is made of all of them stays within bounds. */
export const maxInvoiceLines = 20_000

const Minor = integer(-mostMinor, mostMinor)

/** Without a due date of its own an invoice is due when the contract's payment term has passed. */
const writable = { dueAt: optional(Moment) }

export const Invoice = Schema.Struct({
  id: InvoiceId,
  contract: ContractId,
  status: InvoiceStatus,
  invoiceNumber: optional(text(1, 100)),
  currencyCode: CurrencyCode,
  subtotalMinor: Minor,
  totalMinor: Minor,
  billableCount: integer(0, maxInvoiceLines),
  issuedAt: optional(Timestamp),
  ...writable,
  paidAt: optional(Timestamp),
  ...stamps
}).annotations({ identifier: "Invoice" })
export type Invoice = typeof Invoice.Type

export const CreateInvoice = body({
  contractId: ContractId,
  currencyCode: optional(CurrencyCode),
  ...writable
}).annotations({ identifier: "CreateInvoice" })
export const PatchInvoice = patch(writable).annotations({ identifier: "PatchInvoice" })
