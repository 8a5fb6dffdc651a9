import { Either } from "effect"
import { fieldError, type ValidationError } from "../Errors.ts"
import type { Invoice } from "./Invoice.ts"
import { requireInvoiceTransition } from "./InvoiceStatus.ts"

type FinalizableFields = Pick<Invoice, "status" | "billableCount" | "totalMinor">

/** Fails unless the invoice is a draft with at least one line and no negative total. */
export const requireFinalizable = ({
  billableCount,
  status,
  totalMinor
}: FinalizableFields): Either.Either<void, ValidationError> =>
  Either.flatMap(requireInvoiceTransition(status, "finalize"), () => {
    if (billableCount === 0)
      return Either.left(fieldError("billableCount", "min", "is 0; add at least one billable before finalizing"))
    return totalMinor < 0
      ? Either.left(
          fieldError(
            "totalMinor",
            "min",
            `is ${totalMinor}; only an invoice with a total of at least 0 can be finalized`
          )
        )
      : Either.void
  })

const millisPerDay = 86_400_000

const addDays = (timestamp: string, days: number) => new Date(Date.parse(timestamp) + days * millisPerDay).toISOString()

/** The due date of an invoice: its own, or else the payment term of its contract after the date of issue. */
export const dueDateOf = (
  { dueAt }: Pick<Invoice, "dueAt">,
  issuedAt: string,
  paymentTermDays: number
): Either.Either<string, ValidationError> => {
  const due = dueAt ?? addDays(issuedAt, paymentTermDays)
  return due < issuedAt
    ? Either.left(fieldError("dueAt", "min", `must not be before the date of issue, ${issuedAt}, but is ${due}`))
    : Either.right(due)
}
