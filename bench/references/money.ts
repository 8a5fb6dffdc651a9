import { multiplyDecimal, roundDecimal, toDecimal } from "../../src/domain/money/Decimal.ts"

const maxDecimals = 12

export const hasAllowedScale = (quantity: number) => toDecimal(quantity).scale <= maxDecimals

/** Undefined when the amount is not a safe integer. */
const toNumber = (amount: bigint) => {
  const value = Number(amount)
  return Number.isSafeInteger(value) ? value : undefined
}

/** Rounds once. Undefined when the total is not a safe integer. */
export const computeLineTotal = (quantity: number, amountMinor: number) =>
  toNumber(roundDecimal(multiplyDecimal(toDecimal(quantity), BigInt(amountMinor))))

/** Undefined when the sum is not a safe integer. */
export const sumExactly = (...amounts: ReadonlyArray<number>) =>
  toNumber(amounts.reduce((total, amount) => total + BigInt(amount), 0n))
