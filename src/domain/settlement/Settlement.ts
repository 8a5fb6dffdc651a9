import { Either } from "effect"
import { type ErrorDetail, fieldError, type ValidationError } from "../Errors.ts"
import type { ActionOf } from "../events/EventCatalogue.ts"
import { balanceOf, type Invoice, type SettledSums } from "../invoicing/Invoice.ts"
import { maxMinor } from "../money/Money.ts"
import type { CreditSource } from "../payments/Allocation.ts"
import { body, field, integer, optional, text } from "../Schemas.ts"

/** A change of what settles an invoice. */
export interface Settlement {
  readonly invoice: string
  readonly changes: Partial<SettledSums>
}

export interface SettledInvoice {
  readonly value: Invoice
  /** The action of the event that reports the change. */
  readonly action: ActionOf<"invoice">
}

/**
 * The action of the event when the change leaves no balance. A write-off is reported as such in any case. What a credit
 * note closes is not paid.
 */
const closingAction = (
  { status }: Pick<Invoice, "status">,
  { creditedMinor = 0, paidMinor = 0, writtenOffMinor = 0 }: Partial<SettledSums>
) => {
  if (writtenOffMinor > 0) return "written_off"
  return status === "PAID" || (creditedMinor > 0 && paidMinor <= 0) ? "updated" : "paid"
}

/**
 * An issued invoice after `changes` of its settled sums. It is PAID while its balance is 0, and FINALIZED again when it
 * is not.
 */
export const settleInvoice = (invoice: Invoice, changes: Partial<SettledSums>, at: string): SettledInvoice => {
  const { paidAt, ...open } = invoice
  const sums = {
    paidMinor: invoice.paidMinor + (changes.paidMinor ?? 0),
    creditedMinor: invoice.creditedMinor + (changes.creditedMinor ?? 0),
    writtenOffMinor: invoice.writtenOffMinor + (changes.writtenOffMinor ?? 0)
  }
  const balanceMinor = balanceOf({ ...invoice, ...sums })
  if (balanceMinor === 0)
    return {
      value: { ...open, ...sums, balanceMinor, status: "PAID", paidAt: paidAt ?? at },
      action: closingAction(invoice, changes)
    }
  const reopens = invoice.status === "PAID"
  const action = reopens ? "reopened" : (changes.writtenOffMinor ?? 0) > 0 ? "written_off" : "updated"
  return { value: { ...open, ...sums, balanceMinor, status: "FINALIZED" }, action }
}

/** What an allocation is taken from, with its client and its currency. */
interface Payer {
  readonly source: CreditSource
  readonly client: string
  readonly currencyCode: string
}

/** An invoice that an allocation refers to, with the client of its contract. */
export interface AllocatedInvoice {
  readonly invoice: Pick<Invoice, "status" | "currencyCode" | "balanceMinor">
  readonly client: string
}

/** Errors of an allocation of an amount to an invoice. `path` is the field of the allocation, with a dot, or empty. */
export const allocationErrors = (
  path: string,
  amountMinor: number,
  found: AllocatedInvoice | undefined,
  { client, currencyCode, source }: Payer
): ReadonlyArray<ErrorDetail> => {
  if (found === undefined)
    return [{ field: `${path}invoiceId`, constraint: "exists", message: "does not exist in this tenant" }]
  if (found.client !== client)
    return [{ field: `${path}invoiceId`, constraint: "exists", message: `is not an invoice to the client ${client}` }]
  const { balanceMinor, currencyCode: invoiced, status } = found.invoice
  if (status !== "FINALIZED")
    return [
      {
        field: `${path}invoiceId`,
        constraint: "state",
        message: `is ${status}; only a FINALIZED invoice can be settled`
      }
    ]
  if (invoiced !== currencyCode)
    return [
      {
        field: `${path}invoiceId`,
        constraint: "currency",
        message: `is in ${invoiced}, but the ${source} is in ${currencyCode}`
      }
    ]
  return amountMinor <= balanceMinor
    ? []
    : [
        {
          field: `${path}amountMinor`,
          constraint: "max",
          message: `must be at most ${balanceMinor}, the balance of the invoice, but is ${amountMinor}`
        }
      ]
}

export const WriteOff = body({
  amountMinor: optional(field(integer(1, maxMinor), "How much, in minor units. Default: the whole balance.", 206)),
  reason: field(text(1, 500), "Why it is written off.", "Insolvency of the client")
}).annotations({ identifier: "WriteOff", description: "What will not be paid any more, and why." })

type WrittenOffFields = Pick<Invoice, "status" | "balanceMinor" | "writtenOffMinor">

/** The amount to write off: the given one, or else the whole balance. */
export const requireWriteOff = (
  { balanceMinor, status }: WrittenOffFields,
  amountMinor = balanceMinor
): Either.Either<number, ValidationError> => {
  if (status !== "FINALIZED" || balanceMinor === 0)
    return Either.left(
      fieldError("status", "state", `is ${status}; only a FINALIZED invoice with a balance can be written off`)
    )
  return amountMinor <= balanceMinor
    ? Either.right(amountMinor)
    : Either.left(
        fieldError(
          "amountMinor",
          "max",
          `must be at most ${balanceMinor}, the balance of the invoice, but is ${amountMinor}`
        )
      )
}

/** What was written off and can be taken back. */
export const requireWrittenOff = ({ writtenOffMinor }: WrittenOffFields): Either.Either<number, ValidationError> =>
  writtenOffMinor > 0
    ? Either.right(writtenOffMinor)
    : Either.left(fieldError("writtenOffMinor", "state", "is 0; nothing of this invoice is written off"))
