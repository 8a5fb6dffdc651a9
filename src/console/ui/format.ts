import { formatAmount } from "../../domain/money/AmountFormat.ts"
import { currencyDecimals } from "../../domain/money/CurrencyDecimals.ts"
import { tenant } from "../api/session.ts"

const formatters = new Map<string, Intl.NumberFormat>()

const moneyFormat = (currencyCode: string) => {
  const known = formatters.get(currencyCode)
  if (known !== undefined) return known
  const digits = currencyDecimals(currencyCode)
  const created = new Intl.NumberFormat(undefined, {
    style: "currency",
    currency: currencyCode,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits
  })
  formatters.set(currencyCode, created)
  return created
}

/** An amount in the viewer's locale, exact: the formatter gets a decimal text, because a fraction would round. */
export const formatMoney = (amountMinor: number, currencyCode: string) => {
  const exact = formatAmount(amountMinor, currencyCode).replaceAll(",", "")
  return moneyFormat(currencyCode).format(exact as Intl.StringNumericLiteral) // digits with a point are such a literal
}

/** An amount for an input field: digits with a point and all decimals of the currency. */
export const editableAmount = (amountMinor: number, currencyCode: string) =>
  formatAmount(amountMinor, currencyCode).replaceAll(",", "")

const zoneOf = () => tenant.value?.timeZone ?? "UTC"

const dateStyles = {
  day: { dateStyle: "medium" },
  time: { dateStyle: "medium", timeStyle: "medium" },
  moment: { dateStyle: "full", timeStyle: "long" }
} as const

const dateFormats = new Map<string, Intl.DateTimeFormat>()

/** Making a format takes longer than using it a hundred times, and a list has one in every row. */
const dateFormat = (style: keyof typeof dateStyles) => {
  const timeZone = zoneOf()
  const known = dateFormats.get(style + timeZone)
  if (known !== undefined) return known
  const created = new Intl.DateTimeFormat(undefined, { ...dateStyles[style], timeZone })
  dateFormats.set(style + timeZone, created)
  return created
}

/** The day of a moment for the business, in the viewer's locale. */
export const formatDate = (timestamp: string | undefined) =>
  timestamp === undefined ? "—" : dateFormat("day").format(new Date(timestamp))

/** The moment with its time zone, for the hint on a date. */
export const formatMoment = (timestamp: string) => dateFormat("moment").format(new Date(timestamp))

/** A day and a time to the second, for logs. */
export const formatTime = (timestamp: string) => dateFormat("time").format(new Date(timestamp))

const numberFormat = new Intl.NumberFormat(undefined, { maximumFractionDigits: 12 })

export const formatNumber = (value: number) => numberFormat.format(value)

/** `FINALIZED` as people read it. */
export const formatStatus = (status: string) => status.charAt(0) + status.slice(1).toLowerCase().replaceAll("_", " ")
