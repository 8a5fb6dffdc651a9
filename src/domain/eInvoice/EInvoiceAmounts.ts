import { termsOf } from "../invoicing/draft/TaxSets.ts"
import { currencyDecimals } from "../money/CurrencyDecimals.ts"
import { formatDecimal, multiplyDecimal, roundDecimal, toDecimal } from "../money/Decimal.ts"
import { type Tax, type TaxTerms, vatCategories } from "../money/InvoiceArithmetic.ts"
import { lineTotal, sumMinor } from "../money/Money.ts"
import type { AllowanceCharge, DocumentAllowanceCharge, Line, Totals, Vat, VatBreakdown } from "./EInvoice.ts"
import type { EInvoiceSource, SourceLine } from "./EInvoiceSource.ts"
import { presentText } from "./Texts.ts"

/** UN/ECE Recommendation 20: one. */
export const defaultUnitCode = "C62"

/** UNTDID 5189: discount. */
const discountCode = "95"

/** What takes an amount off, or puts it on. A charge has no code here, so it needs a text. */
const allowanceOf = (amountMinor: number, reason: string | undefined, chargeReason: string): AllowanceCharge => {
  const given = presentText(reason)
  if (amountMinor < 0) return { isCharge: true, amountMinor: -amountMinor, reason: given ?? chargeReason }
  return { isCharge: false, amountMinor, ...(given === undefined ? { reasonCode: discountCode } : { reason: given }) }
}

/**
 * Quantity and price of a line. A price is never negative (BR-27), so the quantity takes its sign. A line that is credited
 * by amount has no quantity: it is one unit of that amount.
 */
const priceOf = ({ amountMinor, lineTotalMinor, quantity, showsQuantity, unitCode }: SourceLine) => {
  if (showsQuantity === false)
    return {
      quantity: lineTotalMinor < 0 ? "-1" : "1",
      priceMinor: Math.abs(lineTotalMinor),
      unitCode: defaultUnitCode,
      productMinor: lineTotalMinor
    }
  return {
    quantity: formatDecimal(multiplyDecimal(toDecimal(quantity), amountMinor < 0 ? -1n : 1n)),
    priceMinor: Math.abs(amountMinor),
    unitCode: presentText(unitCode) ?? defaultUnitCode,
    productMinor: lineTotal(quantity, amountMinor) ?? lineTotalMinor
  }
}

const vatOf = (rates: ReadonlyArray<TaxTerms>): Vat | undefined => {
  const [vat, another] = rates.flatMap(({ category, percent }) =>
    category === undefined ? [] : [{ category, percent }]
  )
  return another === undefined ? vat : undefined
}

const toLine = (source: SourceLine, index: number, terms: ReadonlyMap<string, TaxTerms>): Line => {
  const { productMinor, ...price } = priceOf(source)
  const rates = source.taxRates.flatMap((id) => terms.get(id) ?? [])
  // A credited quantity can differ from the product: by its share of the line's discount, and by a rounding.
  const discountMinor = productMinor - source.lineTotalMinor
  return {
    id: String(index + 1),
    name: presentText(source.name),
    description: presentText(source.description),
    ...price,
    allowances: discountMinor === 0 ? [] : [allowanceOf(discountMinor, source.discountReason, "Rounding")],
    netMinor: source.lineTotalMinor,
    vat: vatOf(rates),
    otherTaxes: rates.flatMap(({ category, name }) => (category === undefined ? [name] : []))
  }
}

const isSameVat = (a: Pick<Tax, "category" | "percent">, b: Vat) => a.category === b.category && a.percent === b.percent

const compareVat = (a: Vat, b: Vat) =>
  vatCategories.indexOf(a.category) - vatCategories.indexOf(b.category) || b.percent - a.percent

interface VatGroup extends VatBreakdown {
  /** What document level allowances take off the lines. */
  readonly discountMinor: number
}

/**
 * The lines by VAT category and rate. A credit note has no row of a tax whose base is 0, but its lines need a breakdown
 * (BR-S-01 and the like). The discount is what lies between the lines and the base.
 */
const vatGroups = (lines: ReadonlyArray<Line>, { creditNote, invoice }: EInvoiceSource): ReadonlyArray<VatGroup> => {
  const nets = new Map<string, { readonly vat: Vat; netMinor: number }>()
  for (const { netMinor, vat } of lines) {
    if (vat === undefined) continue
    const key = `${vat.category} ${vat.percent}`
    const group = nets.get(key) ?? { vat, netMinor: 0 }
    nets.set(key, group)
    group.netMinor += netMinor
  }
  const { taxes } = creditNote ?? invoice
  return [...nets.values()]
    .map(({ netMinor, vat }) => {
      const { baseMinor = 0, taxMinor = 0 } = taxes.find((tax) => isSameVat(tax, vat)) ?? {}
      const { exemptionCode, exemptionReason } = invoice.taxes.find((tax) => isSameVat(tax, vat)) ?? {}
      return {
        ...vat,
        baseMinor,
        taxMinor,
        discountMinor: netMinor - baseMinor,
        exemptionReason: presentText(exemptionReason),
        exemptionCode: presentText(exemptionCode)
      }
    })
    .sort(compareVat)
}

const toDocumentAllowance = (
  { category, discountMinor, percent }: VatGroup,
  reason: string | undefined
): DocumentAllowanceCharge => ({ ...allowanceOf(discountMinor, reason, "Discount"), vat: { category, percent } })

const sumOf = (allowances: ReadonlyArray<AllowanceCharge>, isCharge: boolean) =>
  sumMinor(...allowances.filter((item) => item.isCharge === isCharge).map(({ amountMinor }) => amountMinor)) ?? 0

const totalsOf = (
  { creditNote, invoice }: EInvoiceSource,
  allowances: ReadonlyArray<DocumentAllowanceCharge>
): Totals => {
  const { discountMinor, subtotalMinor, taxMinor, totalMinor } = creditNote ?? invoice
  return {
    linesMinor: subtotalMinor,
    allowancesMinor: sumOf(allowances, false),
    chargesMinor: sumOf(allowances, true),
    netMinor: subtotalMinor - discountMinor,
    taxMinor,
    grossMinor: totalMinor,
    // Nothing is paid when the document is issued, and from then on it never changes.
    paidMinor: 0,
    dueMinor: totalMinor
  }
}

/** The lines with everything that is computed from them. */
export const amountsOf = (source: EInvoiceSource) => {
  // The table of the invoice has the terms of all rates. That of a credit note can lack some.
  const terms = termsOf(source.invoice.taxes)
  const lines = source.lines.map((line, index) => toLine(line, index, terms))
  const groups = vatGroups(lines, source)
  const allowances = groups
    .filter(({ discountMinor }) => discountMinor !== 0)
    .map((group) => toDocumentAllowance(group, source.invoice.discountReason))
  return {
    lines,
    allowances,
    totals: totalsOf(source, allowances),
    vatBreakdown: groups.map(({ discountMinor: _, ...breakdown }): VatBreakdown => breakdown)
  }
}

/** The tax of an invoice in its tax currency, rounded once. Undefined without that currency and its rate. */
export const convertTax = (
  taxMinor: number,
  { currencyCode, taxCurrencyCode, taxCurrencyRate }: EInvoiceSource["invoice"]
) => {
  if (taxCurrencyCode === undefined || taxCurrencyRate === undefined) return undefined
  const { digits, scale } = multiplyDecimal(toDecimal(taxCurrencyRate), BigInt(taxMinor))
  const shifted = digits * 10n ** BigInt(currencyDecimals(taxCurrencyCode))
  return Number(roundDecimal({ digits: shifted, scale: scale + currencyDecimals(currencyCode) }))
}
