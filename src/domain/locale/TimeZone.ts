import { DateTime, Option, Schema } from "effect"
import { butIs } from "../RejectedValue.ts"
import { field, rule } from "../Schemas.ts"

export const defaultTimeZone = "UTC"

/** Some runtimes accept offsets such as +02:00 as names, which know no daylight saving time. */
const isTimeZone = (name: string) => /^[A-Za-z]/.test(name) && Option.isSome(DateTime.zoneMakeNamed(name))

/** The name of an IANA time zone. */
export const TimeZone = field(
  Schema.String.pipe(
    Schema.filter(isTimeZone, rule("format", butIs("must be an IANA time zone such as Europe/Berlin")))
  ),
  "IANA time zone of the tenant, for the dates on invoices, the year in invoice numbers, and due dates.",
  "Europe/Berlin"
)

const datePattern = /^(?!0000)\d{4}-\d\d-\d\d$/

/** `Date` accepts the 30th of February as a day in March. Comparing the result with the input rejects such dates. */
const isDate = (text: string) => {
  const date = new Date(datePattern.test(text) ? text : Number.NaN)
  return Number.isFinite(date.getTime()) && date.toISOString().startsWith(text)
}

/** A day in the time zone of the tenant. */
export const LocalDate = Schema.String.pipe(
  Schema.filter(isDate, rule("format", butIs("must be a date such as 2026-11-14"), { format: "date" }))
)

const inZone = (timestamp: string, timeZone: string) => DateTime.unsafeMakeZoned(timestamp, { timeZone })

/** One for each time zone: making one takes longer than a thousand dates. */
const dayFormats = new Map<string, Intl.DateTimeFormat>()

const dayFormatOf = (timeZone: string) => {
  // Sweden writes dates as ISO 8601 does, except that years before 1000 have fewer digits.
  const format =
    dayFormats.get(timeZone) ??
    new Intl.DateTimeFormat("sv-SE", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" })
  dayFormats.set(timeZone, format)
  return format
}

/** The day of a timestamp in a time zone, such as 2026-11-14. A statement has thousands of them: `DateTime` takes five times as long. */
export const localDateOf = (timestamp: string, timeZone: string) =>
  dayFormatOf(timeZone).format(Date.parse(timestamp)).padStart("2026-11-14".length, "0")

/** The same time of day some days later in a time zone, which can be an hour more or less than whole days. */
export const addLocalDays = (timestamp: string, days: number, timeZone: string) =>
  DateTime.formatIso(DateTime.add(inZone(timestamp, timeZone), { days }))

/** The calendar day some days later. */
export const addDays = (day: string, days: number) => {
  const date = new Date(day)
  date.setUTCDate(date.getUTCDate() + days)
  return date.toISOString().slice(0, 10)
}

/** The first moment of a day in a time zone. It is later than midnight if clocks skip midnight. */
export const startOfLocalDay = (day: string, timeZone: string) =>
  DateTime.formatIso(DateTime.unsafeMakeZoned(day, { timeZone, adjustForTimeZone: true, disambiguation: "compatible" }))
