import { currencyDecimals } from "./Currency.ts"
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

/** Formats an amount in the major unit: 123456 is 1,234.56 in EUR, 123,456 in JPY and 123.456 in KWD. */
export const formatAmount = (amountMinor: number, currencyCode: string) => {
  const decimals = currencyDecimals(currencyCode)
  const digits = String(Math.abs(amountMinor)).padStart(decimals + 1, "0")
  const whole = digits.slice(0, digits.length - decimals).replace(/\B(?=(\d{3})+$)/g, ",")
  const fraction = decimals === 0 ? "" : `.${digits.slice(-decimals)}`
  return `${amountMinor < 0 ? "-" : ""}${whole}${fraction}`
}
