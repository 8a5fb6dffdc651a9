import { currencyDecimals } from "./CurrencyDecimals.ts"
import { roundDecimal, toDecimal } from "./Decimal.ts"

const plainNumber = /^[+-]?(\d+(\.\d*)?|\.\d+)$/

/** The decimal sign of a number as people and spreadsheets write it: the last of both, or a single one that is no group. */
const decimalSignOf = (text: string, groupLength: number) => {
  const [lastComma, lastPoint] = [text.lastIndexOf(","), text.lastIndexOf(".")]
  if (lastComma >= 0 && lastPoint >= 0) return lastComma > lastPoint ? "," : "."
  const sign = lastComma >= 0 ? "," : "."
  const parts = text.split(sign)
  const isGrouped = parts.length > 2 || (sign === "," && parts.length === 2 && parts[1]?.length === groupLength)
  return isGrouped ? (sign === "," ? "." : ",") : sign
}

/**
 * Reads a number that a person typed or copied from a spreadsheet, with either sign for decimals and with groups:
 * `1,234.5`, `1.234,5`, `1 234.5`. A single comma with three digits behind it separates a group. Undefined for other text.
 */
export const parseNumber = (text: string): string | undefined => {
  const compact = text.replaceAll(/[\s\u00a0\u202f'’]/g, "").replace(/^\u2212/, "-")
  const decimalSign = decimalSignOf(compact, 3)
  const plain = compact.replaceAll(decimalSign === "," ? "." : ",", "").replace(decimalSign, ".")
  return plainNumber.test(plain)
    ? plain
        .replace(/^\+/, "")
        .replace(/^(-?)\./, "$10.")
        .replace(/\.$/, "")
    : undefined
}

/** An amount in the major unit as whole minor units. Undefined for other text, too many decimals, or beyond the exact range. */
export const parseAmount = (text: string, currencyCode: string): number | undefined => {
  const number = parseNumber(text)
  if (number === undefined) return undefined
  const { digits, scale } = toDecimal(number)
  const decimals = currencyDecimals(currencyCode)
  if (scale > decimals) return undefined
  const minor = Number(roundDecimal({ digits: digits * 10n ** BigInt(decimals), scale }))
  return Number.isSafeInteger(minor) ? minor : undefined
}
