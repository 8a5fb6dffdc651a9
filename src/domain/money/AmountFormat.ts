import { currencyDecimals } from "./CurrencyDecimals.ts"

/** Separates the thousands of a text that begins with digits. */
export const groupThousands = (number: string) =>
  number.replace(/^-?\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ","))

/** Formats an amount in the major unit: 123456 is 1,234.56 in EUR, 123,456 in JPY and 123.456 in KWD. */
export const formatAmount = (amountMinor: number, currencyCode: string) => {
  const decimals = currencyDecimals(currencyCode)
  const digits = String(Math.abs(amountMinor)).padStart(decimals + 1, "0")
  const whole = groupThousands(digits.slice(0, digits.length - decimals))
  const fraction = decimals === 0 ? "" : `.${digits.slice(-decimals)}`
  return `${amountMinor < 0 ? "-" : ""}${whole}${fraction}`
}
