import { formatAmount, groupThousands } from "../money/AmountFormat.ts"
import { formatDecimal, toDecimal } from "../money/Decimal.ts"
import type { Language } from "./Language.ts"

const separators: Readonly<Record<Language, readonly [group: string, decimal: string]>> = {
  en: [",", "."],
  de: [".", ","],
  fr: ["\u202f", ","]
}

const localize = (formatted: string, language: Language) => {
  const [group, decimal] = separators[language]
  return formatted.replace(/[,.]/g, (sign) => (sign === "," ? group : decimal))
}

/** An amount in the major unit, as the language writes it, without its currency. */
export const formatLocalAmount = (amountMinor: number, currencyCode: string, language: Language) =>
  localize(formatAmount(amountMinor, currencyCode), language)

/** An amount with its currency. */
export const formatLocalMoney = (amountMinor: number, currencyCode: string, language: Language) =>
  `${formatLocalAmount(amountMinor, currencyCode, language)} ${currencyCode}`

/** A quantity or a percentage, with all its decimals. */
export const formatLocalNumber = (value: number, language: Language) =>
  localize(groupThousands(formatDecimal(toDecimal(value))), language)

const dateFormat = (language: Language, timeZone: string, dateStyle: "long" | "medium") =>
  new Intl.DateTimeFormat(language === "en" ? "en-GB" : language, { dateStyle, timeZone })

/** The day of a timestamp in a time zone, in words. */
export const formatLocalDate = (timestamp: string, timeZone: string, language: Language) =>
  dateFormat(language, timeZone, "long").format(new Date(timestamp))

/** Returns a function that formats many days, shorter than `formatLocalDate`. */
export const makeDayFormat = (language: Language, timeZone: string) => {
  const format = dateFormat(language, timeZone, "medium")
  return (timestamp: string) => format.format(new Date(timestamp))
}
