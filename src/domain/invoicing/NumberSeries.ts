import { Either, Schema } from "effect"
import { fieldError, type ValidationError } from "../Errors.ts"
import { butIs } from "../RejectedValue.ts"
import { field, integer, optional, patch, rule, text } from "../Schemas.ts"

const placeholder = /\{(?:(year)|seq(?::([1-9]|1\d|20))?)\}/g

const countSequences = (pattern: string) =>
  [...pattern.matchAll(placeholder)].filter(([, year]) => year === undefined).length

/** The documents with numbers, each with the format of its numbers until the tenant sets another one. */
export const defaultNumberPatterns = { invoice: "INV-{year}-{seq:6}", credit_note: "CN-{year}-{seq:6}" } as const
export type NumberedDocument = keyof typeof defaultNumberPatterns

const nameOf = (document: NumberedDocument) => document.replaceAll("_", " ")

/**
 * The format of numbers: fixed text, `{seq}` or `{seq:6}` for the counter, and `{year}`. A pattern with `{year}` restarts
 * the counter every year. The limit of 20 digits keeps a number within the length of `invoiceNumber`.
 */
export const NumberPattern = text(5, 60).pipe(
  Schema.filter(
    // Stryker disable next-line StringLiteral: any replacement without braces does
    (pattern) => countSequences(pattern) === 1 && !/[{}]/.test(pattern.replaceAll(placeholder, "")),
    rule(
      "pattern",
      butIs("must contain {seq} or {seq:1} to {seq:20} once, {year} if numbers restart every year, and no other braces")
    )
  )
)

const patternOf = (document: NumberedDocument) =>
  field(
    NumberPattern,
    `Format of ${nameOf(document)} numbers: fixed text, \`{seq}\` or \`{seq:6}\` for the counter padded with zeros, and ` +
      "optionally `{year}`, which restarts the counter every year.",
    defaultNumberPatterns[document]
  )

/** A pattern with this text restarts its counter every year. */
export const yearPlaceholder = "{year}"

/** The period of a counter that never restarts. */
export const wholePeriod = "all"

/** The period of a counter: the year if the pattern contains it, else `all`. */
export const numberingPeriod = (pattern: string, issueDate: string) =>
  pattern.includes(yearPlaceholder) ? issueDate.slice(0, 4) : wholePeriod

/** How far from a moment `yearAround` holds. */
export const yearAroundHours = 12
/** No time zone is farther from UTC. */
const maxOffsetHours = 14

/** The year in every time zone around a moment. Undefined around New Year, when it depends on the zone. */
export const yearAround = (now: Date) => {
  const [before, after] = [-1, 1].map((sign) =>
    new Date(now.getTime() + sign * (yearAroundHours + maxOffsetHours) * 3_600_000).getUTCFullYear()
  )
  return before === after ? String(before) : undefined
}

/** Formats the number of the `seq`-th document of a period. */
export const formatNumber = (pattern: string, issueDate: string, seq: number) =>
  pattern.replaceAll(placeholder, (_, year: string | undefined, width: string | number = 1) =>
    year === undefined ? String(seq).padStart(Number(width), "0") : issueDate.slice(0, 4)
  )

const Count = integer(0, Number.MAX_SAFE_INTEGER)

/** A number of a document, in examples. */
const exampleNumber = (document: NumberedDocument, seq: number) =>
  formatNumber(defaultNumberPatterns[document], "2026-11-14", seq)

/** What is shown of the numbers of one period. `first` and `last` are existing numbers; an empty period has neither. */
const periodFields = (document: NumberedDocument) => ({
  period: field(Schema.String, "The year, or `all` if the pattern has no `{year}`.", "2026"),
  first: optional(
    field(Schema.String, `Number of the first ${nameOf(document)} of the period.`, exampleNumber(document, 1))
  ),
  last: optional(
    field(Schema.String, `Number of the last ${nameOf(document)} of the period.`, exampleNumber(document, 42))
  ),
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
})

/** Shows for each period that no number is missing or duplicated. */
const seriesFields = <F extends Schema.Struct.Fields>(document: NumberedDocument, period: F) => ({
  pattern: patternOf(document),
  next: field(Count, "Counter of the next number, if it is given now.", 43),
  periods: field(
    Schema.Array(Schema.Struct(period).annotations({ description: "The numbers of one period." })),
    "The numbers given so far, by period."
  )
})

export const InvoiceSeries = Schema.Struct(
  seriesFields("invoice", {
    ...periodFields("invoice"),
    count: field(Count, "How many invoices have a number of the period, void ones included.", 42),
    voids: field(Count, "How many of them are void.", 1)
  })
).annotations({ identifier: "InvoiceSeries", description: "The format of invoice numbers, and those given so far." })

export const CreditNoteSeries = Schema.Struct(
  seriesFields("credit_note", {
    ...periodFields("credit_note"),
    count: field(Count, "How many credit notes have a number of the period.", 42)
  })
).annotations({
  identifier: "CreditNoteSeries",
  description: "The format of credit note numbers, and those given so far."
})

const seriesPrefixes: Readonly<Record<NumberedDocument, string>> = { invoice: "ser", credit_note: "cns" }

/** The identifier of a tenant's series in events. It differs from the tenant's, because each has its own sequence. */
export const seriesIdOf = (document: NumberedDocument, tenant: string) =>
  tenant.replace(/^tnt_/, `${seriesPrefixes[document]}_`)

/** The largest counter. */
const maxSequence = 999_999_999

const patchFields = (document: NumberedDocument) => ({
  pattern: patternOf(document),
  next: field(
    integer(1, maxSequence),
    "Counter of the next number, for those who continue a series from elsewhere. Only before the first number of the " +
      "current period, and only upwards.",
    118
  )
})

export const PatchInvoiceSeries = patch(patchFields("invoice")).annotations({
  identifier: "PatchInvoiceSeries",
  description: "The new format of invoice numbers, or where their counter goes on."
})

export const PatchCreditNoteSeries = patch(patchFields("credit_note")).annotations({
  identifier: "PatchCreditNoteSeries",
  description: "The new format of credit note numbers, or where their counter goes on."
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
