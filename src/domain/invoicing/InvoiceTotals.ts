import { Either } from "effect"
import { fieldError, type ValidationError } from "../Errors.ts"
import { maxMinor, sumMinor } from "../money/Money.ts"
import { requireQuota } from "../Quotas.ts"
import type { Invoice } from "./Invoice.ts"

type Totals = Pick<Invoice, "subtotalMinor" | "totalMinor" | "billableCount">

/** A change of the lines of an invoice. `field` is the request field of its errors. */
export interface LineChange {
  readonly amounts: ReadonlyArray<number>
  readonly lineDelta: number
  readonly field: string
}

/** The totals of an invoice after its lines change. Fails beyond the exact range and beyond the quota of lines. */
export const totalsAfter = (
  { billableCount, totalMinor }: Pick<Invoice, "totalMinor" | "billableCount">,
  { amounts, field, lineDelta }: LineChange,
  maxLines: number
): Either.Either<Totals, ValidationError> => {
  const total = sumMinor(totalMinor, ...amounts)
  if (total === undefined)
    return Either.left(fieldError(field, "max", `would bring the total of the invoice beyond ±${maxMinor}`))
  return Either.map(
    requireQuota("invoiceLines", { max: maxLines, used: billableCount, adding: lineDelta, field }),
    () => ({ subtotalMinor: total, totalMinor: total, billableCount: billableCount + lineDelta })
  )
}
