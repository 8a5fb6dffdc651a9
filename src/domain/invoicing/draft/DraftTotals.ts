import {
  type Discount,
  type InvoiceAmounts,
  invoiceAmounts,
  lineAmounts,
  type TaxTerms
} from "../../money/InvoiceArithmetic.ts"
import { applyToTaxSets, withTerms } from "./TaxSets.ts"

/** A line of a draft, saved or not. */
export interface DraftLine {
  readonly quantity: number
  readonly amountMinor: number
  readonly discount?: Discount | undefined
  /** Identifiers of its tax rates. */
  readonly taxRates: ReadonlyArray<string>
}

const nets = new WeakMap<DraftLine, number | undefined>()

/**
 * The net amount of a line, undefined beyond the exact range. Computes each line once: an editor asks again after every
 * key, and ten thousand lines have not changed.
 */
export const netOfLine = (line: DraftLine) => {
  if (!nets.has(line)) nets.set(line, lineAmounts(line)?.lineTotalMinor)
  return nets.get(line)
}

/** The amounts of a draft with these lines. Undefined beyond the exact range. This module runs in a browser. */
export const draftTotals = (
  lines: ReadonlyArray<DraftLine>,
  discount: Discount | undefined,
  rates: ReadonlyMap<string, TaxTerms>
): InvoiceAmounts | undefined => {
  const amounts = lines.map((line) => ({ taxRates: line.taxRates, netMinor: netOfLine(line) }))
  const known = amounts.flatMap(({ netMinor, taxRates }) =>
    netMinor === undefined ? [] : [{ taxRates, netMinor, lineCount: 1 }]
  )
  const sets = known.length < amounts.length ? undefined : applyToTaxSets([], known)
  return sets === undefined ? undefined : invoiceAmounts(withTerms(sets, rates), discount)
}
