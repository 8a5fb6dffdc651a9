import { Either, Schema } from "effect"
import { fieldError, type ValidationError } from "../Errors.ts"
import { butIs } from "../RejectedValue.ts"
import { field, integer, optional, patch, rule, text } from "../Schemas.ts"

const placeholder = /\{(?:(year)|seq(?::([1-9]|1\d|20))?)\}/g

const countSequences = (pattern: string) =>
  [...pattern.matchAll(placeholder)].filter(([, year]) => year === undefined).length

export const defaultNumberPattern = "INV-{year}-{seq:6}"

/**
 * The format of invoice numbers: fixed text, `{seq}` or `{seq:6}` for the counter, and `{year}`. A pattern with
 * `{year}` restarts the counter every year. The limit of 20 digits keeps a number within the length of `invoiceNumber`.
 */
export const NumberPattern = field(
  text(5, 60).pipe(
    Schema.filter(
      // Stryker disable next-line StringLiteral: any replacement without braces does
      (pattern) => countSequences(pattern) === 1 && !/[{}]/.test(pattern.replaceAll(placeholder, "")),
      rule(
        "pattern",
        butIs(
          "must contain {seq} or {seq:1} to {seq:20} once, {year} if numbers restart every year, and no other braces"
        )
      )
    )
  ),
  "Format of invoice numbers: fixed text, `{seq}` or `{seq:6}` for the counter padded with zeros, and optionally " +
    "`{year}`, which restarts the counter every year.",
  defaultNumberPattern
)

/** The period of a counter: the year if the pattern contains it, else `all`. */
export const numberingPeriod = (pattern: string, issueDate: string) =>
  pattern.includes("{year}") ? issueDate.slice(0, 4) : "all"

/** Formats the number of the `seq`-th invoice of a period. */
export const formatInvoiceNumber = (pattern: string, issueDate: string, seq: number) =>
  pattern.replaceAll(placeholder, (_, year: string | undefined, width: string | number = 1) =>
    year === undefined ? String(seq).padStart(Number(width), "0") : issueDate.slice(0, 4)
  )

const Count = integer(0, Number.MAX_SAFE_INTEGER)

/**
 * Shows for each period that no number is missing or duplicated. `first` and `last` are existing numbers; a period
 * without invoices has neither.
 */
export const InvoiceSeries = Schema.Struct({
  pattern: NumberPattern,
  next: field(Count, "Counter of the next number, if it is given now.", 43),
  periods: field(
    Schema.Array(
      Schema.Struct({
        period: field(Schema.String, "The year, or `all` if the pattern has no `{year}`.", "2026"),
        first: optional(field(Schema.String, "Number of the first invoice of the period.", "INV-2026-000001")),
        last: optional(field(Schema.String, "Number of the last invoice of the period.", "INV-2026-000042")),
        count: field(Count, "How many invoices have a number of the period, void ones included.", 42),
        voids: field(Count, "How many of them are void.", 1),
        gaps: field(
          Schema.Array(
            Schema.Struct({
              from: field(Count, "First missing value of the counter."),
              to: field(Count, "Last missing value of the counter.")
            }).annotations({ description: "A range of missing numbers." })
          ),
          "Ranges of missing numbers. Always empty, unless someone changed the database by hand.",
          []
        )
      }).annotations({ description: "The numbers of one period." })
    ),
    "The numbers given so far, by period."
  )
}).annotations({ identifier: "InvoiceSeries", description: "The format of invoice numbers, and those given so far." })

/** The identifier of a tenant's series in events. It differs from the tenant's, because each has its own sequence. */
export const seriesIdOf = (tenant: string) => tenant.replace(/^tnt_/, "ser_")

/** The largest counter. */
const maxSequence = 999_999_999

export const PatchInvoiceSeries = patch({
  pattern: NumberPattern,
  next: field(
    integer(1, maxSequence),
    "Counter of the next number, for those who continue a series from elsewhere. Only before the first number of the " +
      "current period, and only upwards.",
    118
  )
}).annotations({
  identifier: "PatchInvoiceSeries",
  description: "The new format of invoice numbers, or where their counter goes on."
})

/** The counter of a period: its first value, and the last one that was used, or the one before the first. */
export interface Counter {
  readonly start: number
  readonly last: number
}

/** The counter of a period without numbers. */
export const newCounter: Counter = { start: 1, last: 0 }

/** The counter that continues with `next`. Fails once the period has a number, and for a step back. */
export const continueWith = (
  { last, start }: Counter,
  next: number,
  period: string
): Either.Either<Counter, ValidationError> => {
  if (last >= start) {
    const where = period === "all" ? "the series" : `the period ${period}`
    return Either.left(fieldError("next", "state", `can only be set before the first number, but ${where} has numbers`))
  }
  return next < start
    ? Either.left(
        fieldError("next", "min", `must be at least ${start}, because the counter only goes up, but is ${next}`)
      )
    : Either.right({ start: next, last: next - 1 })
}
