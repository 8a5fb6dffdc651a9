import { type Decimal, roundDecimal, toDecimal } from "./Decimal.ts"
import { lineTotal, sumMinor } from "./Money.ts"

/**
 * The arithmetic of an invoice: line totals, discounts, taxes and the total. Amounts are whole minor units. Each line is
 * rounded once and each tax is rounded once, as EN 16931 requires (BR-CO-10 to BR-CO-17). This module and its imports run
 * in a browser.
 */

/** The VAT categories of EN 16931, in the order of a tax table. */
export const vatCategories = ["S", "Z", "E", "AE", "K", "G", "O"] as const
export type VatCategory = (typeof vatCategories)[number]

/** A share of an amount, or a fixed amount: one of the two. */
export interface Discount {
  readonly percent?: number
  readonly amountMinor?: number
}

/** The exact product of an amount and a percentage, before rounding. */
export const percentProduct = (amountMinor: number, percent: number): Decimal => {
  const { digits, scale } = toDecimal(percent)
  return { digits: digits * BigInt(amountMinor), scale: scale + 2 }
}

/** The rounded product. With at most 100 percent it is never larger than the amount. */
export const percentOf = (amountMinor: number, percent: number) =>
  Number(roundDecimal(percentProduct(amountMinor, percent)))

const discountOn = (baseMinor: number, { amountMinor = 0, percent }: Discount = {}) =>
  percent === undefined ? amountMinor : percentOf(baseMinor, percent)

interface LineTerms {
  readonly quantity: number
  readonly amountMinor: number
  readonly discount?: Discount | undefined
}

export interface LineAmounts {
  /** Quantity times price, rounded. */
  readonly productMinor: number
  readonly discountMinor: number
  readonly lineTotalMinor: number
}

/** The amounts of a line, or undefined beyond the exact range. */
export const lineAmounts = ({ amountMinor, discount, quantity }: LineTerms): LineAmounts | undefined => {
  const productMinor = lineTotal(quantity, amountMinor)
  if (productMinor === undefined) return undefined
  const discountMinor = discountOn(productMinor, discount)
  const lineTotalMinor = sumMinor(productMinor, -discountMinor)
  return lineTotalMinor === undefined ? undefined : { productMinor, discountMinor, lineTotalMinor }
}

/** Splits a discount over nets: by weight of the positive ones, rounded down, then by largest remainder. */
export const splitDiscount = (discountMinor: number, nets: ReadonlyArray<number>): ReadonlyArray<number> => {
  const weights = nets.map((net) => BigInt(Math.max(net, 0)))
  const total = weights.reduce((sum, weight) => sum + weight, 0n)
  if (total === 0n) return nets.map(() => 0)
  const products = weights.map((weight) => weight * BigInt(discountMinor))
  const shares = products.map((product) => Number(product / total))
  const missing = discountMinor - shares.reduce((sum, share) => sum + share, 0)
  // The sort is stable, so that equal remainders keep the order of the nets.
  const byRemainder = products
    .map((product, index) => ({ index, remainder: product % total }))
    .sort((a, b) => (a.remainder === b.remainder ? 0 : a.remainder > b.remainder ? -1 : 1))
  const rounded = new Set(byRemainder.slice(0, missing).map(({ index }) => index))
  return shares.map((share, index) => (rounded.has(index) ? share + 1 : share))
}

/** The terms of a tax rate that a tax table needs. */
export interface TaxTerms {
  readonly id: string
  readonly name: string
  readonly percent: number
  readonly category?: VatCategory | undefined
  readonly exemptionReason?: string | undefined
  readonly exemptionCode?: string | undefined
}

/** The lines of an invoice with the same combination of taxes, summed up. */
export interface TaxedNet {
  readonly taxRates: ReadonlyArray<TaxTerms>
  readonly netMinor: number
}

export interface Tax {
  /** Identifiers of the rates in this row. */
  readonly taxRates: ReadonlyArray<string>
  readonly name: string
  readonly percent: number
  readonly category?: VatCategory
  readonly exemptionReason?: string
  readonly exemptionCode?: string
  readonly baseMinor: number
  readonly taxMinor: number
}

export interface InvoiceAmounts {
  /** Sum of the nets. */
  readonly subtotalMinor: number
  readonly discountMinor: number
  /** The share of the discount of each set, in the order of the sets. */
  readonly discountShares: ReadonlyArray<number>
  readonly taxes: ReadonlyArray<Tax>
  readonly taxMinor: number
  readonly totalMinor: number
}

/** One row of the tax table: all rates with the same category, or else the same name, and the same percentage. */
interface TaxGroup {
  readonly rates: Map<string, TaxTerms>
  readonly bases: Array<number>
}

const distinct = (texts: ReadonlyArray<string | undefined>) => [
  ...new Set(texts.filter((text): text is string => text !== undefined))
]

const compareTexts = (a: string, b: string) => (a === b ? 0 : a < b ? -1 : 1)

const categoryRank = ({ category }: Tax) =>
  category === undefined ? vatCategories.length : vatCategories.indexOf(category)

/** VAT by category, then other taxes by name. Higher percentages first. */
const compareTaxes = (a: Tax, b: Tax) =>
  categoryRank(a) - categoryRank(b) ||
  (a.category === undefined ? compareTexts(a.name, b.name) : 0) ||
  b.percent - a.percent

const toTax = ({ bases, rates }: TaxGroup): Tax | undefined => {
  const sorted = [...rates.values()].sort((a, b) => compareTexts(a.id, b.id))
  const [first] = sorted
  const baseMinor = sumMinor(...bases)
  if (first === undefined || baseMinor === undefined) return undefined
  const reasons = distinct(sorted.map(({ exemptionReason }) => exemptionReason))
  const codes = distinct(sorted.map(({ exemptionCode }) => exemptionCode))
  const [code] = codes
  return {
    taxRates: sorted.map(({ id }) => id),
    name: distinct(sorted.map(({ name }) => name)).join(", "),
    percent: first.percent,
    ...(first.category === undefined ? {} : { category: first.category }),
    ...(reasons.length === 0 ? {} : { exemptionReason: reasons.join(" ") }),
    ...(code === undefined || codes.length > 1 ? {} : { exemptionCode: code }),
    baseMinor,
    taxMinor: percentOf(baseMinor, first.percent)
  }
}

const groupByTax = (sets: ReadonlyArray<TaxedNet>, shares: ReadonlyArray<number>) => {
  const groups = new Map<string, TaxGroup>()
  sets.forEach(({ netMinor, taxRates }, index) => {
    for (const rate of taxRates) {
      const key = JSON.stringify([rate.category ?? null, rate.category === undefined ? rate.name : "", rate.percent])
      const group: TaxGroup = groups.get(key) ?? { rates: new Map(), bases: [] }
      groups.set(key, group)
      group.rates.set(rate.id, rate)
      group.bases.push(netMinor, -(shares[index] ?? 0))
    }
  })
  return [...groups.values()]
}

/** The discount of an invoice with this subtotal. It never exceeds the subtotal. */
export const invoiceDiscount = (subtotalMinor: number, discount: Discount | undefined) => {
  const available = Math.max(subtotalMinor, 0)
  return Math.min(discountOn(available, discount), available)
}

/** The amounts of nets with these shares of a discount, or undefined beyond the exact range. */
export const taxedAmounts = (
  sets: ReadonlyArray<TaxedNet>,
  discountShares: ReadonlyArray<number>
): InvoiceAmounts | undefined => {
  const subtotalMinor = sumMinor(...sets.map(({ netMinor }) => netMinor))
  const discountMinor = sumMinor(...discountShares)
  const taxes = groupByTax(sets, discountShares).map(toTax)
  const known = taxes.filter((tax): tax is Tax => tax !== undefined).sort(compareTaxes)
  const taxMinor = sumMinor(...known.map(({ taxMinor }) => taxMinor))
  if (subtotalMinor === undefined || discountMinor === undefined || taxMinor === undefined) return undefined
  const totalMinor = sumMinor(subtotalMinor, -discountMinor, taxMinor)
  return known.length < taxes.length || totalMinor === undefined
    ? undefined
    : { subtotalMinor, discountMinor, discountShares, taxes: known, taxMinor, totalMinor }
}

/**
 * The amounts of an invoice, or undefined beyond the exact range. The sets must be sorted by the identifiers of their
 * rates, which breaks ties of the split discount.
 */
export const invoiceAmounts = (
  sets: ReadonlyArray<TaxedNet>,
  discount: Discount | undefined
): InvoiceAmounts | undefined => {
  const nets = sets.map(({ netMinor }) => netMinor)
  const subtotalMinor = sumMinor(...nets)
  return subtotalMinor === undefined
    ? undefined
    : taxedAmounts(sets, splitDiscount(invoiceDiscount(subtotalMinor, discount), nets))
}
