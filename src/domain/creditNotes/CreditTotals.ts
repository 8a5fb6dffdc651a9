import { allTaxSets, applyToTaxSets, sameTaxSet, type TaxSet, termsOf, withTerms } from "../invoicing/draft/TaxSets.ts"
import { creditedAmounts, subtractAmounts } from "../money/CreditArithmetic.ts"
import type { InvoiceAmounts, Tax } from "../money/InvoiceArithmetic.ts"

/** The totals of credit notes. This module and its imports run in a browser. */

/** What the amounts of a note depend on, of its invoice. */
interface CreditedInvoice {
  readonly taxes: ReadonlyArray<Tax>
  readonly discountMinor: number
  readonly subtotalMinor: number
  readonly billableCount: number
}

/** What is credited of each set, in the order of the sets. */
export const alignWith = (sets: ReadonlyArray<TaxSet>, credited: ReadonlyArray<TaxSet>): ReadonlyArray<TaxSet> =>
  sets.map((set) => credited.find((other) => sameTaxSet(set, other)) ?? { ...set, netMinor: 0, lineCount: 0 })

/** What is credited of each set after these lines. The number of complete lines stays as it was. */
export const addCredits = (
  before: ReadonlyArray<TaxSet>,
  lines: ReadonlyArray<{ readonly line: Pick<TaxSet, "taxRates">; readonly amountMinor: number }>
): ReadonlyArray<TaxSet> =>
  before.map((set) => ({
    ...set,
    netMinor: lines
      .filter(({ line }) => sameTaxSet(set, line))
      .reduce((sum, { amountMinor }) => sum + amountMinor, set.netMinor)
  }))

export type NoteAmounts = Readonly<Record<"before" | "after" | "note", InvoiceAmounts>>

/** The amounts of a note that brings what is credited from `before` to `after`. Undefined beyond the exact range. */
export const noteAmounts = (
  { invoice, taxSets }: { readonly invoice: CreditedInvoice; readonly taxSets: ReadonlyArray<TaxSet> },
  before: ReadonlyArray<TaxSet>,
  after: ReadonlyArray<TaxSet>
): NoteAmounts | undefined => {
  const sets = allTaxSets(taxSets, invoice)
  const taxed = withTerms(sets, termsOf(invoice.taxes))
  const amountsOf = (credited: ReadonlyArray<TaxSet>) =>
    creditedAmounts(
      taxed,
      invoice.discountMinor,
      alignWith(sets, credited).map(({ netMinor }) => netMinor)
    )
  const [earlier, later] = [amountsOf(before), amountsOf(after)]
  return earlier === undefined || later === undefined
    ? undefined
    : { before: earlier, after: later, note: subtractAmounts(later, earlier) }
}

/** A line of an invoice with what a note credits of it, in addition to what is credited already. */
export interface LineToCredit {
  readonly taxRates: ReadonlyArray<string>
  readonly lineTotalMinor: number
  readonly creditedMinor: number
  readonly amountMinor: number
}

/** The amounts of a note on all lines of an invoice. Undefined beyond the exact range. */
export const creditTotals = (
  invoice: CreditedInvoice,
  lines: ReadonlyArray<LineToCredit>
): InvoiceAmounts | undefined => {
  const setsOf = (netOf: (line: LineToCredit) => number) =>
    applyToTaxSets(
      [],
      lines.map((line) => ({ taxRates: line.taxRates, netMinor: netOf(line), lineCount: 1 }))
    )
  const taxSets = setsOf(({ lineTotalMinor }) => lineTotalMinor)
  const before = setsOf(({ creditedMinor }) => creditedMinor)
  const after = setsOf(({ amountMinor, creditedMinor }) => creditedMinor + amountMinor)
  if (taxSets === undefined || before === undefined || after === undefined) return undefined
  return noteAmounts({ invoice, taxSets }, before, after)?.note
}
