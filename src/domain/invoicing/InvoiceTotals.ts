import { Either } from "effect"
import { fieldError, type ValidationError } from "../Errors.ts"
import { invoiceAmounts, type TaxTerms } from "../money/InvoiceArithmetic.ts"
import { maxMinor } from "../money/Money.ts"
import { requireQuota } from "../quotas/Quotas.ts"
import { allTaxSets, applyToTaxSets, maxTaxSets, storedTaxSets, type TaxSet, withTerms } from "./draft/TaxSets.ts"
import type { Invoice } from "./Invoice.ts"

type AmountFields =
  | "subtotalMinor"
  | "discountMinor"
  | "taxes"
  | "taxMinor"
  | "totalMinor"
  | "balanceMinor"
  | "billableCount"

/** An invoice with the sums that its taxes are computed from. */
export interface SummedInvoice {
  readonly value: Pick<Invoice, Exclude<AmountFields, "balanceMinor"> | "discount">
  /** The tax sets with taxes. */
  readonly taxSets: ReadonlyArray<TaxSet>
}

/** A change of an invoice. `field` is the request field of its errors. */
export interface TotalsChange {
  /** The lines that are added (`lineCount` 1) and removed (-1). */
  readonly lines: ReadonlyArray<TaxSet>
  readonly field: string
}

export interface NewTotals {
  readonly totals: Pick<Invoice, AmountFields>
  readonly taxSets: ReadonlyArray<TaxSet>
  /** What the change adds to the net amount, which the cap of the contract counts: two amounts to sum up. */
  readonly netChanges: ReadonlyArray<number>
}

/** What the cap of a contract counts of an invoice. */
export const netOf = ({ discountMinor, subtotalMinor }: Pick<Invoice, "subtotalMinor" | "discountMinor">) =>
  subtotalMinor - discountMinor

/**
 * The totals of a draft after its lines or its discount change. Nothing of a draft is settled. `rates` has the terms of all rates of the invoice and
 * of the lines. Fails beyond the exact range and beyond the quota of lines.
 */
export const totalsAfter = (
  { taxSets, value }: SummedInvoice,
  { field, lines }: TotalsChange,
  rates: ReadonlyMap<string, TaxTerms>,
  maxLines: number
): Either.Either<NewTotals, ValidationError> => {
  const sets = applyToTaxSets(allTaxSets(taxSets, value), lines)
  const amounts = sets === undefined ? undefined : invoiceAmounts(withTerms(sets, rates), value.discount)
  if (sets === undefined || amounts === undefined)
    return Either.left(fieldError(field, "max", `would bring the total of the invoice beyond ±${maxMinor}`))
  if (sets.length > maxTaxSets)
    return Either.left(
      fieldError(field, "maxItems", `would give the invoice more than ${maxTaxSets} combinations of tax rates`)
    )
  const { discountShares: _, ...totals } = amounts
  const adding = lines.reduce((sum, { lineCount }) => sum + lineCount, 0)
  const quota = requireQuota("invoiceLines", { max: maxLines, used: value.billableCount, adding, field })
  return Either.map(quota, () => ({
    totals: { ...totals, balanceMinor: Math.max(totals.totalMinor, 0), billableCount: value.billableCount + adding },
    taxSets: storedTaxSets(sets),
    netChanges: [netOf(totals), -netOf(value)]
  }))
}
