import { Schema } from "effect"
import { body, optional, rule, text } from "../Schemas.ts"

const placeholder = /\{(?:(year)|seq(?::([1-9]|1\d|20))?)\}/g

const countSequences = (pattern: string) =>
  [...pattern.matchAll(placeholder)].filter(([, year]) => year === undefined).length

/**
 * The format of invoice numbers: fixed text, `{seq}` or `{seq:6}` for the counter, and `{year}`. A pattern with
 * `{year}` restarts the counter every year. The limit of 20 digits keeps a number within the length of `invoiceNumber`.
 */
export const NumberPattern = text(5, 60).pipe(
  Schema.filter(
    // Stryker disable next-line StringLiteral: any replacement without braces does
    (pattern) => countSequences(pattern) === 1 && !/[{}]/.test(pattern.replaceAll(placeholder, "")),
    rule(
      "pattern",
      "must hold {seq}, or {seq:1} to {seq:20}, once, {year} if numbers begin anew each year, and no other braces",
      { examples: ["INV-{year}-{seq:6}"] }
    )
  )
)

export const defaultNumberPattern = "INV-{year}-{seq:6}"

/** The period of a counter: the year if the pattern contains it, else `all`. */
export const numberingPeriod = (pattern: string, issuedAt: string) =>
  pattern.includes("{year}") ? issuedAt.slice(0, 4) : "all"

/** Formats the number of the `seq`-th invoice of a period. */
export const formatInvoiceNumber = (pattern: string, issuedAt: string, seq: number) =>
  pattern.replaceAll(placeholder, (_, year: string | undefined, width: string | number = 1) =>
    year === undefined ? String(seq).padStart(Number(width), "0") : issuedAt.slice(0, 4)
  )

const Count = Schema.NonNegativeInt

/**
 * Shows for each period that no number is missing or duplicated. `first` and `last` are existing numbers; a period
 * without invoices has neither.
 */
export const InvoiceSeries = Schema.Struct({
  pattern: NumberPattern,
  periods: Schema.Array(
    Schema.Struct({
      period: Schema.String,
      first: optional(Schema.String),
      last: optional(Schema.String),
      count: Count,
      voids: Count,
      gaps: Schema.Array(Schema.Struct({ from: Count, to: Count }))
    })
  )
}).annotations({ identifier: "InvoiceSeries" })

/** The identifier of a tenant's series in events. It differs from the tenant's, because each has its own sequence. */
export const seriesIdOf = (tenant: string) => tenant.replace(/^tnt_/, "ser_")

export const PatchInvoiceSeries = body({ pattern: NumberPattern }).annotations({ identifier: "PatchInvoiceSeries" })
