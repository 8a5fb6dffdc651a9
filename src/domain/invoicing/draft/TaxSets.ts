import type { Tax, TaxedNet, TaxTerms } from "../../money/InvoiceArithmetic.ts"
import { sumMinor } from "../../money/Money.ts"

/**
 * The lines of an invoice with the same combination of tax rates, summed up. Taxes are computed from these sums, so that
 * their cost does not depend on the number of lines.
 */
export interface TaxSet {
  /** Identifiers of the rates, sorted. */
  readonly taxRates: ReadonlyArray<string>
  readonly netMinor: number
  readonly lineCount: number
}

/** Maximum number of tax sets of an invoice. It bounds the cost of every change of its lines. */
export const maxTaxSets = 100

const keyOf = (taxRates: ReadonlyArray<string>) => taxRates.join(" ")

const bySortedRates = (a: TaxSet, b: TaxSet) => {
  const [one, other] = [keyOf(a.taxRates), keyOf(b.taxRates)]
  return one === other ? 0 : one < other ? -1 : 1
}

interface Sums {
  readonly subtotalMinor: number
  readonly billableCount: number
}

/** All tax sets of an invoice. Stored are those with taxes; the lines without taxes are the rest of the subtotal. */
export const allTaxSets = (
  stored: ReadonlyArray<TaxSet>,
  { billableCount, subtotalMinor }: Sums
): ReadonlyArray<TaxSet> => {
  const lineCount = billableCount - stored.reduce((sum, set) => sum + set.lineCount, 0)
  const netMinor = sumMinor(subtotalMinor, ...stored.map((set) => -set.netMinor)) ?? 0
  return lineCount === 0 ? stored : [{ taxRates: [], netMinor, lineCount }, ...stored]
}

/** The tax sets to store with an invoice. */
export const storedTaxSets = (sets: ReadonlyArray<TaxSet>) => sets.filter(({ taxRates }) => taxRates.length > 0)

/** The sets after lines are added (`lineCount` 1) or removed (-1), sorted. Undefined beyond the exact range. */
export const applyToTaxSets = (
  sets: ReadonlyArray<TaxSet>,
  changes: ReadonlyArray<TaxSet>
): ReadonlyArray<TaxSet> | undefined => {
  const grouped = new Map<string, Array<TaxSet>>()
  for (const part of [...sets, ...changes]) {
    const taxRates = [...part.taxRates].sort()
    const group = grouped.get(keyOf(taxRates))
    if (group === undefined) grouped.set(keyOf(taxRates), [{ ...part, taxRates }])
    else group.push(part)
  }
  const summed: Array<TaxSet> = []
  for (const [first, ...rest] of grouped.values()) {
    if (first === undefined) continue
    const netMinor = sumMinor(first.netMinor, ...rest.map((part) => part.netMinor))
    if (netMinor === undefined) return undefined
    const lineCount = rest.reduce((sum, part) => sum + part.lineCount, first.lineCount)
    if (lineCount > 0) summed.push({ taxRates: first.taxRates, netMinor, lineCount })
  }
  return summed.sort(bySortedRates)
}

/** Whether two have the same combination of tax rates. The rates of a line have any order. */
export const sameTaxSet = (a: Pick<TaxSet, "taxRates">, b: Pick<TaxSet, "taxRates">) =>
  keyOf([...a.taxRates].sort()) === keyOf([...b.taxRates].sort())

/** The terms of the rates of an issued invoice, by the rows of its tax table. */
export const termsOf = (taxes: ReadonlyArray<Tax>): ReadonlyMap<string, TaxTerms> =>
  new Map(taxes.flatMap((tax) => tax.taxRates.map((id): [string, TaxTerms] => [id, { ...tax, id }])))

/** The sets with the terms of their rates. A rate without terms is left out. */
export const withTerms = (sets: ReadonlyArray<TaxSet>, rates: ReadonlyMap<string, TaxTerms>): ReadonlyArray<TaxedNet> =>
  sets.map(({ netMinor, taxRates }) => ({ netMinor, taxRates: taxRates.flatMap((id) => rates.get(id) ?? []) }))
