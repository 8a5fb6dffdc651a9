import { multiplyDecimal, roundDecimal, toDecimal } from "../../src/domain/money/Decimal.ts"

const maxDecimals = 12

export const hasAllowedScale = (quantity: number) => toDecimal(quantity).scale <= maxDecimals

/** An exact amount as a number, or undefined when it is too large to be told exactly. */
const toNumber = (amount: bigint) => {
  const value = Number(amount)
  return Number.isSafeInteger(value) ? value : undefined
}

/** Quantity times unit amount, rounded once; undefined beyond what can be told. */
export const computeLineTotal = (quantity: number, amountMinor: number) =>
  toNumber(roundDecimal(multiplyDecimal(toDecimal(quantity), BigInt(amountMinor))))

/** The sum, or undefined beyond what can be told. */
export const sumExactly = (...amounts: ReadonlyArray<number>) =>
  toNumber(amounts.reduce((total, amount) => total + BigInt(amount), 0n))
