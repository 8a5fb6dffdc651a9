import { Either, Schema } from "effect"
import { fieldError, type ValidationError } from "../Errors.ts"
import { addDays, LocalDate, localDateOf, startOfLocalDay } from "../locale/TimeZone.ts"
import { butIs } from "../RejectedValue.ts"
import { field, optional, rule } from "../Schemas.ts"

const [firstDay, lastDay] = ["1970-01-01", "2999-12-31"]

/** A day of a report. The bounds leave room for calculations with days around it. */
const ReportDay = LocalDate.pipe(
  Schema.filter((day) => day >= firstDay, rule("min", butIs(`must be ${firstDay} or later`), { format: "date" })),
  Schema.filter((day) => day <= lastDay, rule("max", butIs(`must be ${lastDay} or earlier`), { format: "date" }))
)

/** Bounds the rows of a report by month, and the time that a report takes. */
export const maxPeriodYears = 10

export const periodQueryFields = {
  from: optional(
    field(
      ReportDay,
      "First day, in the time zone of the tenant. Default: the first day of the month of `to`.",
      "2026-11-01"
    )
  ),
  to: optional(
    field(
      ReportDay,
      `Last day, in the time zone of the tenant, at most ${maxPeriodYears} years after \`from\`. Default: today.`,
      "2026-11-30"
    )
  )
}

export const asOfQueryFields = {
  asOf: optional(
    field(
      ReportDay,
      "The day, in the time zone of the tenant, at whose end the report looks. Default: today.",
      "2026-11-30"
    )
  )
}

/** What a report needs to know of its tenant. */
export interface ReportClock {
  readonly now: string
  readonly timeZone: string
}

/** Days of a report, and the moments at which they begin and end. The end is not part of it. */
export interface ReportPeriod {
  readonly from: string
  readonly to: string
  readonly start: string
  readonly end: string
}

interface PeriodQuery {
  readonly from?: string | undefined
  readonly to?: string | undefined
}

const toPeriod = (from: string, to: string, timeZone: string): ReportPeriod => ({
  from,
  to,
  start: startOfLocalDay(from, timeZone),
  end: startOfLocalDay(addDays(to, 1), timeZone)
})

const firstOfMonth = (day: string) => `${day.slice(0, 7)}-01`

/** The same day some years later. It is the 1st of March for a 29th of February that does not exist. */
const addYears = (day: string, years: number) => {
  const date = new Date(day)
  date.setUTCFullYear(date.getUTCFullYear() + years)
  return date.toISOString().slice(0, 10)
}

/** The period of a request, with its defaults. */
export const requirePeriod = (
  query: PeriodQuery,
  { now, timeZone }: ReportClock
): Either.Either<ReportPeriod, ValidationError> => {
  const to = query.to ?? localDateOf(now, timeZone)
  const from = query.from ?? firstOfMonth(to)
  if (from > to) return Either.left(fieldError("from", "max", `must be ${to} or earlier, but is "${from}"`))
  const last = addDays(addYears(from, maxPeriodYears), -1)
  if (to > last) return Either.left(fieldError("to", "max", `must be ${last} or earlier, but is "${to}"`))
  return Either.right(toPeriod(from, to, timeZone))
}

/** The day of a request, as a period of one day. It cannot be in the future, because its end is not known yet. */
export const requireDay = (
  asOf: string | undefined,
  { now, timeZone }: ReportClock
): Either.Either<ReportPeriod, ValidationError> => {
  const today = localDateOf(now, timeZone)
  const day = asOf ?? today
  return day > today
    ? Either.left(fieldError("asOf", "max", `must be ${today} or earlier, but is "${day}"`))
    : Either.right(toPeriod(day, day, timeZone))
}

/** The last boundary of a period that has passed. What is booked before it is final once its transactions have ended. */
export const passedBoundary = ({ end, start }: ReportPeriod, now: string) =>
  [end, start].find((boundary) => boundary <= now)

/** The months that a period touches, such as 2026-11, each with its first moment. */
export const monthsOf = ({ from, to }: ReportPeriod, timeZone: string) => {
  const months: Array<{ readonly month: string; readonly start: string }> = []
  for (let day = firstOfMonth(from); day <= to; day = firstOfMonth(addDays(day, 31)))
    months.push({ month: day.slice(0, 7), start: startOfLocalDay(day, timeZone) })
  return months
}
