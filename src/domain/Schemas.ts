import { ParseResult, Schema } from "effect"

/**
 * The machine words a rejected field is reported under. A schema names the one it enforces in this annotation,
 * so the wire format is decided where the rule is written.
 */
export type Constraint =
  | "required"
  | "type"
  | "minLength"
  | "maxLength"
  | "pattern"
  | "min"
  | "max"
  | "minItems"
  | "maxItems"
  | "enum"
  | "format"
  | "unknown"
  | "exists"
  | "state"
  | "currency"
  | "unique"
  | "inUse"

export const ConstraintId: unique symbol = Symbol.for("domain/Constraint")

/** Annotations of a refinement: its machine word, its sentence, and what it means in JSON Schema. */
export const rule = (constraint: Constraint, message: string, jsonSchema: object = {}) => ({
  [ConstraintId]: constraint,
  message: () => message,
  jsonSchema
})

/** Counts code points, as JSON Schema does, and only where the cheaper UTF-16 length leaves the answer open. */
const codePoints = (text: string) => {
  let count = 0
  for (const _ of text) count++
  return count
}
const atLeast = (text: string, min: number) => text.length >= 2 * min || codePoints(text) >= min
const atMost = (text: string, max: number) => text.length <= max || codePoints(text) <= max

/** Text that PostgreSQL can hold: no NUL and no half of a surrogate pair. */
const Storable = Schema.String.pipe(
  Schema.filter(
    (text) => !text.includes("\u0000") && text.isWellFormed(),
    rule("pattern", "must not contain NUL or unpaired surrogates")
  )
)

const characters = (count: number) => (count === 1 ? "1 character" : `${count} characters`)

export const text = (min: number, max: number) =>
  Storable.pipe(
    Schema.filter(
      (value) => atLeast(value, min),
      rule("minLength", `must have at least ${characters(min)}`, min > 0 ? { minLength: min } : {})
    ),
    Schema.filter(
      (value) => atMost(value, max),
      rule("maxLength", `must have at most ${characters(max)}`, { maxLength: max })
    )
  )

const bounded = (min: number, max: number) => (schema: Schema.Schema<number>) =>
  schema.pipe(
    Schema.filter((value) => value >= min, rule("min", `must be at least ${min}`, { minimum: min })),
    Schema.filter((value) => value <= max, rule("max", `must be at most ${max}`, { maximum: max }))
  )

const Whole = Schema.Number.pipe(
  Schema.filter(Number.isInteger, rule("type", "must be an integer", { type: "integer" }))
)

export const integer = (min: number, max: number) => Whole.pipe(bounded(min, max))

/** An integer in a query string. */
export const integerText = (min: number, max: number, description: string) =>
  Schema.transformOrFail(Schema.String, integer(min, max), {
    strict: true,
    decode: (digits, _, ast) =>
      /^-?\d{1,16}$/.test(digits)
        ? ParseResult.succeed(Number(digits))
        : ParseResult.fail(new ParseResult.Type(ast, digits, "must be an integer")),
    encode: (value) => ParseResult.succeed(String(value))
  }).annotations(rule("type", "must be an integer", { type: "integer", minimum: min, maximum: max, description }))

export const oneOf = <const L extends readonly [string, ...Array<string>]>(...literals: L) =>
  Schema.Literal(...literals).annotations({
    [ConstraintId]: "enum" satisfies Constraint,
    message: () => ({ message: `must be one of ${literals.join(", ")}`, override: true })
  })

/** Yes or no in a query string. */
export const booleanText = (description: string) =>
  Schema.transform(oneOf("true", "false"), Schema.Boolean, {
    strict: true,
    decode: (text) => text === "true",
    encode: (value) => (value ? "true" : "false")
  }).annotations({ jsonSchema: { type: "boolean", description } })

export const Order = integer(0, Number.MAX_SAFE_INTEGER).annotations({ description: "Position among its siblings" })

/** ISO 8601 in UTC; the database layer already delivers timestamps in this form. */
export const Timestamp = Schema.String.annotations({ jsonSchema: { type: "string", format: "date-time" } })
/** A moment a caller names: ISO 8601 in UTC, to the millisecond as everything here. */
const isoInUtc = /^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/
const notAMoment = "must be a date and time in UTC such as 2026-11-14T09:30:00Z"

/** Dates such as the 30th of February read as a day in March; what was read must be what was written. */
const momentOf = (text: string) => {
  const read = new Date(isoInUtc.test(text) ? text : Number.NaN)
  return !Number.isNaN(read.getTime()) && read.toISOString().startsWith(text.slice(0, 19)) ? read : undefined
}

export const Moment = Schema.transformOrFail(Schema.String, Schema.String, {
  strict: true,
  decode: (text, _, ast) => {
    const moment = momentOf(text)
    return moment === undefined
      ? ParseResult.fail(new ParseResult.Type(ast, text, notAMoment))
      : ParseResult.succeed(moment.toISOString())
  },
  encode: ParseResult.succeed
}).annotations({ jsonSchema: { type: "string", format: "date-time", pattern: "Z$" } })

export const stamps = { createdAt: Timestamp, updatedAt: Timestamp }

/** A field that may be left out. It is never null in an answer. */
export const optional = <S extends Schema.Schema.All>(schema: S) => Schema.optionalWith(schema, { exact: true })

/** A request body reports every fault at once and refuses properties it does not know. */
const strict = { parseOptions: { errors: "all", onExcessProperty: "error" } } as const

export const body = <F extends Schema.Struct.Fields>(fields: F) => Schema.Struct(fields).annotations(strict)

type Optional<S extends Schema.Schema.All> = Schema.optionalWith<S, { readonly exact: true }>
type Changeable<F> =
  F extends Optional<infer S> ? Optional<Schema.NullOr<S>> : F extends Schema.Schema.All ? Optional<F> : never

const isOptional = (field: Schema.Struct.Field): field is Optional<Schema.Schema.All> =>
  Schema.isPropertySignature(field) && "from" in field

/** The body of a PATCH: every field may be left out, null clears an optional one, and nothing at all is a fault. */
export const patch = <F extends Schema.Struct.Fields>(fields: F) => {
  const changeable = Object.entries(fields).map(([name, field]) => [
    name,
    isOptional(field) ? optional(Schema.NullOr(field.from)) : optional(field as Schema.Schema.All)
  ])
  // Object.fromEntries forgets which field is which; the mapped type restates it.
  const struct = Schema.Struct(Object.fromEntries(changeable) as { readonly [K in keyof F]: Changeable<F[K]> })
  return struct
    .annotations(strict)
    .pipe(
      Schema.filter(
        (change) => Object.keys(change).length > 0,
        rule("required", "must name at least one field to change", { minProperties: 1 })
      )
    )
}

/** The body of a PATCH, read. */
export type Change<A> = { readonly [K in keyof A]?: A[K] | null }

/** What a PATCH makes of a resource. */
export const patched = <A extends object>(value: A, change: Change<A>): A => {
  const merged = Object.entries({ ...value, ...change }).filter(([, field]) => field !== null)
  return Object.fromEntries(merged) as A // only optional fields can be null in a change
}
