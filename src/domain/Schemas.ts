import { ParseResult, Schema } from "effect"
import { isStorable } from "./StorableText.ts"

/**
 * The machine words a rejected field is reported under. A schema names the one it enforces in this annotation,
 * so the wire format is decided where the rule is written. `quota` is a limit of the service, which `GET /limits` shows;
 * `maxItems` is the length of a list in one request.
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
  | "quota"

export const ConstraintId: unique symbol = Symbol.for("domain/Constraint")

/** A rule a value must meet, and how a value that does not is reported. */
interface Check<A> {
  readonly test: (value: A) => boolean
  readonly constraint: Constraint
  readonly message: string
  /** What it means in JSON Schema. */
  readonly jsonSchema?: object
}

/**
 * Several rules as one refinement, of which the first that is broken is reported. One refinement for each would be
 * walked one by one for every value of every request.
 */
export const checked = <A>(...checks: ReadonlyArray<Check<A>>) => {
  const broken = (value: unknown) => checks.find(({ test }) => !test(value as A)) // only what reached the refinement
  return {
    test: (value: A) => {
      for (const { test } of checks) if (!test(value)) return false
      return true
    },
    annotations: {
      [ConstraintId]: (value: unknown): Constraint => broken(value)?.constraint ?? "type",
      message: ({ actual }: ParseResult.ParseIssue) => broken(actual)?.message ?? "is not allowed",
      jsonSchema: Object.assign({}, ...checks.map(({ jsonSchema }) => jsonSchema))
    }
  }
}

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
const atMost = (text: string, max: number) => text.length <= max || (text.length <= 2 * max && codePoints(text) <= max)

const storable: Check<string> = {
  test: isStorable,
  constraint: "pattern",
  message: "must not contain NUL or unpaired surrogates"
}

const characters = (count: number) => (count === 1 ? "1 character" : `${count} characters`)

export const text = (min: number, max: number) => {
  const { annotations, test } = checked<string>(
    storable,
    {
      test: (value) => atLeast(value, min),
      constraint: "minLength",
      message: `must have at least ${characters(min)}`,
      ...(min > 0 ? { jsonSchema: { minLength: min } } : {})
    },
    {
      test: (value) => atMost(value, max),
      constraint: "maxLength",
      message: `must have at most ${characters(max)}`,
      jsonSchema: { maxLength: max }
    }
  )
  return Schema.String.pipe(Schema.filter(test, annotations))
}

const within = (min: number, max: number): ReadonlyArray<Check<number>> => [
  {
    test: (value) => value >= min,
    constraint: "min",
    message: `must be at least ${min}`,
    jsonSchema: { minimum: min }
  },
  { test: (value) => value <= max, constraint: "max", message: `must be at most ${max}`, jsonSchema: { maximum: max } }
]

const whole: Check<number> = {
  test: Number.isInteger,
  constraint: "type",
  message: "must be an integer",
  jsonSchema: { type: "integer" }
}

export const integer = (min: number, max: number) => {
  const { annotations, test } = checked(whole, ...within(min, max))
  return Schema.Number.pipe(Schema.filter(test, annotations))
}

/** A number with so many decimals at the most, as a person would write it. */
export const decimal = (min: number, max: number, mostDecimals: number, decimalsOf: (value: number) => number) => {
  const { annotations, test } = checked<number>(
    { test: Number.isFinite, constraint: "type", message: "must be a number" },
    ...within(min, max),
    {
      test: (value) => decimalsOf(value) <= mostDecimals,
      constraint: "format",
      message: `must have at most ${mostDecimals} decimals`
    }
  )
  return Schema.Number.pipe(Schema.filter(test, annotations))
}

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

/** The edge checks this maximum before it decodes any item. */
export const maxItems =
  (max: number) =>
  <A extends ReadonlyArray<unknown>, I, R>(items: Schema.Schema<A, I, R>) =>
    items.pipe(
      Schema.filter(
        ({ length }) => length <= max,
        rule("maxItems", `must have at most ${max} items`, { maxItems: max })
      )
    )

export const nonEmptyArray = <A, I, R>(item: Schema.Schema<A, I, R>, max: number) =>
  Schema.Array(item).pipe(
    Schema.filter(({ length }) => length >= 1, rule("minItems", "must have at least 1 item", { minItems: 1 })),
    maxItems(max)
  )

/** The edge checks this maximum before it decodes any value. */
export const maxProperties =
  (max: number) =>
  <A extends object, I, R>(record: Schema.Schema<A, I, R>) =>
    record.pipe(
      Schema.filter(
        (value) => Object.keys(value).length <= max,
        rule("maxItems", `must have at most ${max} keys`, { maxProperties: max })
      )
    )

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

/**
 * A field that may be left out, and what it then is; whoever reads the body fills it in. It is told in words, because
 * generators of clients take a `default` for a field that must be given.
 */
export const defaulting = <A, I, R>(schema: Schema.Schema<A, I, R>, fallback: NoInfer<A>) =>
  optional(schema.annotations({ description: `${fallback} unless given` }))

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
