import { Either } from "effect"
import { type ErrorDetail, fieldError, requireNoErrors, type ValidationError } from "../Errors.ts"
import { addLocalDays } from "../locale/TimeZone.ts"
import { invoiceDiscount, type VatCategory } from "../money/InvoiceArithmetic.ts"
import type { Parties } from "./document/Parties.ts"
import type { Invoice } from "./Invoice.ts"
import { requireInvoiceTransition } from "./InvoiceStatus.ts"

type FinalizableFields = Pick<
  Invoice,
  "status" | "billableCount" | "subtotalMinor" | "totalMinor" | "discount" | "taxes"
>

const amountErrors = ({ billableCount, totalMinor }: FinalizableFields): ReadonlyArray<ErrorDetail> => {
  if (billableCount === 0)
    return [{ field: "billableCount", constraint: "min", message: "is 0; add at least one billable before finalizing" }]
  return totalMinor < 0
    ? [
        {
          field: "totalMinor",
          constraint: "min",
          message: `is ${totalMinor}; only an invoice with a total of at least 0 can be finalized`
        }
      ]
    : []
}

/** A draft grants at most its subtotal. A finalized invoice must grant what it says. */
const discountErrors = ({ discount, subtotalMinor }: FinalizableFields): ReadonlyArray<ErrorDetail> => {
  const { amountMinor = 0 } = discount ?? {}
  return amountMinor <= invoiceDiscount(subtotalMinor, discount)
    ? []
    : [
        {
          field: "discount.amountMinor",
          constraint: "max",
          message: `must be at most ${Math.max(subtotalMinor, 0)}, the sum of the lines, but is ${amountMinor}`
        }
      ]
}

/** The VAT categories whose invoices show the VAT numbers of both parties. */
const needsVatNumbers: ReadonlyArray<VatCategory | undefined> = ["AE", "K"]

const vatNumberErrors = ({ taxes }: FinalizableFields, parties: Parties): ReadonlyArray<ErrorDetail> => {
  const category = taxes.map((tax) => tax.category).find((category) => needsVatNumbers.includes(category))
  if (category === undefined) return []
  return (["tenant", "client"] as const).flatMap((side): ReadonlyArray<ErrorDetail> => {
    const { address } = parties[side]
    return (address?.vatNumber ?? "") !== ""
      ? []
      : [
          {
            field: `${side}.address.vatNumber`,
            constraint: "required",
            message: `is required for taxes of category ${category}; add it to the first address of the ${side}`
          }
        ]
  })
}

/** Fails unless the invoice is a draft that is complete: with a line, no negative total, and what its taxes require. */
export const requireFinalizable = (
  invoice: FinalizableFields,
  parties: Parties
): Either.Either<void, ValidationError> =>
  Either.flatMap(requireInvoiceTransition(invoice.status, "finalize"), () =>
    requireNoErrors([...amountErrors(invoice), ...discountErrors(invoice), ...vatNumberErrors(invoice, parties)])
  )

/** The due date of an invoice: its own, or else the payment term of its contract after the date of issue, in the tenant's time zone. */
export const dueDateOf = (
  { dueAt }: Pick<Invoice, "dueAt">,
  issuedAt: string,
  paymentTermDays: number,
  timeZone: string
): Either.Either<string, ValidationError> => {
  const due = dueAt ?? addLocalDays(issuedAt, paymentTermDays, timeZone)
  return due < issuedAt
    ? Either.left(fieldError("dueAt", "min", `must not be before the date of issue, ${issuedAt}, but is ${due}`))
    : Either.right(due)
}
