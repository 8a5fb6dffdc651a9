import { multiplyDecimal, roundDecimal, toDecimal } from "./Decimal.ts"

/** The largest absolute amount that a JSON number represents exactly. */
export const maxMinor = Number.MAX_SAFE_INTEGER

/** Converts to a number. An amount beyond the exact range is undefined. */
const toNumber = (amount: bigint) => {
  const value = Number(amount)
  return Number.isSafeInteger(value) ? value : undefined
}

/** Quantity times unit amount, rounded once. A total beyond the exact range is undefined. */
export const lineTotal = (quantity: number, amountMinor: number) =>
  toNumber(roundDecimal(multiplyDecimal(toDecimal(quantity), BigInt(amountMinor))))

/** The sum. A sum beyond the exact range is undefined. */
export const sumMinor = (...amounts: ReadonlyArray<number>) =>
  toNumber(amounts.reduce((total, amount) => total + BigInt(amount), 0n))
