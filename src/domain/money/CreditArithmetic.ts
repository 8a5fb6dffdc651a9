import { addDecimal, type Decimal, divideDecimal, divideRounded, toDecimal } from "./Decimal.ts"
import { type InvoiceAmounts, splitDiscount, type Tax, type TaxedNet, taxedAmounts } from "./InvoiceArithmetic.ts"

/**
 * The arithmetic of credit notes. Shares and taxes are computed from everything that is credited so far, and a note is
 * the difference to the notes before it. So all notes of an invoice add up to the invoice exactly, whatever their order
 * and size. This module and its imports run in a browser.
 */

/** An amount in proportion to a fraction, rounded. */
const proportionOf = (amountMinor: number, numerator: bigint, denominator: bigint) =>
  denominator === 0n ? 0 : Number(divideRounded(BigInt(amountMinor) * numerator, denominator))

/** A line of an invoice, and what is credited of it so far. */
export interface CreditedLine {
  readonly quantity: number
  readonly lineTotalMinor: number
  /** The quantity that is credited by quantity, as an exact decimal. */
  readonly creditedQuantity: string
  readonly creditedMinor: number
}

export const quantityAfter = ({ creditedQuantity }: Pick<CreditedLine, "creditedQuantity">, quantity: number) =>
  addDecimal(toDecimal(creditedQuantity), toDecimal(quantity))

/** The net amount of a quantity, in addition to the quantity that is credited already. */
export const netOfQuantity = (line: CreditedLine, quantity: number) => {
  const netUpTo = (credited: Decimal) => {
    const { denominator, numerator } = divideDecimal(credited, toDecimal(line.quantity))
    return proportionOf(line.lineTotalMinor, numerator, denominator)
  }
  return netUpTo(quantityAfter(line, quantity)) - netUpTo(toDecimal(line.creditedQuantity))
}

/** The amounts when `credited`, in the order of the sets, is credited of an invoice with these sets and discount. */
export const creditedAmounts = (
  sets: ReadonlyArray<TaxedNet>,
  discountMinor: number,
  credited: ReadonlyArray<number>
): InvoiceAmounts | undefined => {
  const shares = splitDiscount(
    discountMinor,
    sets.map(({ netMinor }) => netMinor)
  )
  const nets = sets.map((set, index) => ({ ...set, netMinor: credited[index] ?? 0 }))
  const creditedShares = nets.map(({ netMinor }, index) =>
    proportionOf(shares[index] ?? 0, BigInt(netMinor), BigInt(sets[index]?.netMinor ?? 0))
  )
  return taxedAmounts(nets, creditedShares)
}

const subtractTaxes = (after: ReadonlyArray<Tax>, before: ReadonlyArray<Tax>) =>
  after
    .map((tax, index) => ({
      ...tax,
      baseMinor: tax.baseMinor - (before[index]?.baseMinor ?? 0),
      taxMinor: tax.taxMinor - (before[index]?.taxMinor ?? 0)
    }))
    .filter(({ baseMinor }) => baseMinor !== 0)

/** The amounts of a note: those of everything credited with it, less those before it. Both have the same sets. */
export const subtractAmounts = (after: InvoiceAmounts, before: InvoiceAmounts): InvoiceAmounts => ({
  subtotalMinor: after.subtotalMinor - before.subtotalMinor,
  discountMinor: after.discountMinor - before.discountMinor,
  discountShares: after.discountShares.map((share, index) => share - (before.discountShares[index] ?? 0)),
  taxes: subtractTaxes(after.taxes, before.taxes),
  taxMinor: after.taxMinor - before.taxMinor,
  totalMinor: after.totalMinor - before.totalMinor
})
