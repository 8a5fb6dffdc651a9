import { Schema } from "effect"
import { body, optional, rule, text } from "../Schemas.ts"

const place = /\{(?:(year)|seq(?::([1-9]|1\d|20))?)\}/g

const countsOf = (pattern: string) => [...pattern.matchAll(place)].filter(([, year]) => year === undefined).length

/**
 * What numbers look like: fixed text, `{seq}` or `{seq:6}` for the count, and `{year}`, with which it begins anew. With
 * at most 20 digits asked for, a number always fits into its invoice.
 */
export const NumberPattern = text(5, 60).pipe(
  Schema.filter(
    (pattern) => countsOf(pattern) === 1 && !/[{}]/.test(pattern.replaceAll(place, "")),
    rule(
      "pattern",
      "must hold {seq}, or {seq:1} to {seq:20}, once, {year} if numbers begin anew each year, and no other braces",
      { examples: ["INV-{year}-{seq:6}"] }
    )
  )
)

export const usualPattern = "INV-{year}-{seq:6}"

/** What a count belongs to: the year, where the pattern shows it. */
export const periodOf = (pattern: string, issuedAt: string) =>
  pattern.includes("{year}") ? issuedAt.slice(0, 4) : "all"

/** The number of the invoice that is the `seq`-th of its period. */
export const numberOf = (pattern: string, issuedAt: string, seq: number) =>
  pattern.replaceAll(place, (_, year: string | undefined, width = "0") =>
    year === undefined ? String(seq).padStart(Number(width), "0") : issuedAt.slice(0, 4)
  )

const Count = Schema.NonNegativeInt

/**
 * The proof that no number is missing or given twice, for each period. The first and the last number are those that are
 * there, and left out where none is.
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

/** A tenant has one series. Its events need a name of their own, since those of the tenant are counted apart. */
export const seriesIdOf = (tenant: string) => tenant.replace(/^tnt_/, "ser_")

export const PatchInvoiceSeries = body({ pattern: NumberPattern }).annotations({ identifier: "PatchInvoiceSeries" })
