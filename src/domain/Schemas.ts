import { Option, ParseResult, Schema, SchemaAST } from "effect"
import type { Constraint } from "./Constraints.ts"
import { butIs } from "./RejectedValue.ts"
import { isStorable } from "./StorableText.ts"

/** The annotation in which a schema names the code of its rule. */
export const ConstraintId: unique symbol = Symbol.for("domain/Constraint")

/** The text of an error, which can depend on the rejected value. */
type Message<A> = string | ((value: A) => string)

const toText = <A>(message: Message<A>, value: A) => (typeof message === "string" ? message : message(value))

/** A validation rule with the error it reports. */
interface Check<A> {
  readonly test: (value: A) => boolean
  readonly constraint: Constraint
  readonly message: Message<A>
  /** The same rule in JSON Schema. */
  readonly jsonSchema?: object
}

/**
 * Combines several rules into one refinement that reports the first violated rule. One refinement per rule is slower:
 * the decoder walks each of them for every value of every request.
 */
export const combineChecks = <A>(...checks: ReadonlyArray<Check<A>>) => {
  // The schema has checked the type of the value.
  const findViolated = (value: unknown) => checks.find(({ test }) => !test(value as A))
  return {
    test: (value: A) => {
      for (const { test } of checks) if (!test(value)) return false
      return true
    },
    annotations: {
      [ConstraintId]: (value: unknown): Constraint => findViolated(value)?.constraint ?? "type",
      // The same type check as in `findViolated`.
      message: ({ actual }: ParseResult.ParseIssue) =>
        toText(findViolated(actual)?.message ?? "is not allowed", actual as A),
      jsonSchema: Object.assign({}, ...checks.map(({ jsonSchema }) => jsonSchema))
    }
  }
}

/** Annotations of a refinement: error code, error message and JSON Schema. */
export const rule = (constraint: Constraint, message: Message<unknown>, jsonSchema: object = {}) => ({
  [ConstraintId]: constraint,
  message: ({ actual }: Pick<ParseResult.ParseIssue, "actual">) => toText(message, actual),
  jsonSchema
})

/**
 * Adds the sentence and the example that the OpenAPI document shows for a field. A JSON Schema annotation hides other
 * annotations, so that it gets them as well.
 */
export const field = <Self extends Schema.Schema<A, I, R>, A, I, R>(
  schema: Schema.Annotable<Self, A, I, R>,
  description: string,
  example?: NoInfer<A>
): Self => {
  const documentation = { description, ...(example === undefined ? {} : { examples: [example] as const }) }
  return schema.annotations({
    ...documentation,
    ...Option.match(SchemaAST.getJSONSchemaAnnotation(schema.ast), {
      onNone: () => ({}),
      onSome: (jsonSchema) => ({ jsonSchema: { ...jsonSchema, ...documentation } })
    })
  })
}

const descriptionOf = ({ ast }: Schema.Schema.All) => Option.getOrUndefined(SchemaAST.getDescriptionAnnotation(ast))

/** JSON Schema counts code points. The callers count only when the cheaper UTF-16 length does not decide. */
const countCodePoints = (text: string) => {
  let count = 0
  for (const _ of text) count++
  return count
}
const hasMinLength = (text: string, min: number) => text.length >= 2 * min || countCodePoints(text) >= min
const hasMaxLength = (text: string, max: number) =>
  text.length <= max || (text.length <= 2 * max && countCodePoints(text) <= max)

const storableCheck: Check<string> = {
  test: isStorable,
  constraint: "pattern",
  message: "must not contain NUL or unpaired surrogates"
}

const characters = (count: number) => (count === 1 ? "1 character" : `${count} characters`)

/** Counting is bounded: a body can hold many texts that are far too long. */
const maxCountedLength = 10_000
const describeLength = (text: string) => {
  if (text === "") return "is empty"
  return text.length > maxCountedLength ? `has more than ${maxCountedLength / 2}` : `has ${countCodePoints(text)}`
}

export const text = (min: number, max: number) => {
  const { annotations, test } = combineChecks<string>(
    storableCheck,
    {
      test: (value) => hasMinLength(value, min),
      constraint: "minLength",
      message: (value) => `must have at least ${characters(min)}, but ${describeLength(value)}`,
      ...(min > 0 ? { jsonSchema: { minLength: min } } : {})
    },
    {
      test: (value) => hasMaxLength(value, max),
      constraint: "maxLength",
      message: (value) => `must have at most ${characters(max)}, but ${describeLength(value)}`,
      jsonSchema: { maxLength: max }
    }
  )
  return Schema.String.pipe(Schema.filter(test, annotations))
}

const rangeChecks = (min: number, max: number): ReadonlyArray<Check<number>> => [
  {
    test: (value) => value >= min,
    constraint: "min",
    message: butIs(`must be at least ${min}`),
    jsonSchema: { minimum: min }
  },
  {
    test: (value) => value <= max,
    constraint: "max",
    message: butIs(`must be at most ${max}`),
    jsonSchema: { maximum: max }
  }
]

const integerCheck: Check<number> = {
  test: Number.isInteger,
  constraint: "type",
  message: butIs("must be an integer"),
  jsonSchema: { type: "integer" }
}

export const integer = (min: number, max: number) => {
  const { annotations, test } = combineChecks(integerCheck, ...rangeChecks(min, max))
  return Schema.Number.pipe(Schema.filter(test, annotations))
}

/** A number with at most `maxDecimals` decimals, counted in its shortest decimal notation. */
export const decimal = (min: number, max: number, maxDecimals: number, decimalsOf: (value: number) => number) => {
  const { annotations, test } = combineChecks<number>(
    { test: Number.isFinite, constraint: "type", message: butIs("must be a number") },
    ...rangeChecks(min, max),
    {
      test: (value) => decimalsOf(value) <= maxDecimals,
      constraint: "format",
      message: butIs(`must have at most ${maxDecimals} decimals`)
    }
  )
  return Schema.Number.pipe(Schema.filter(test, annotations))
}

/** An integer in a query string. */
export const queryInteger = (min: number, max: number) =>
  Schema.transformOrFail(Schema.String, integer(min, max), {
    decode: (digits, _, ast) =>
      /^-?\d{1,16}$/.test(digits)
        ? ParseResult.succeed(Number(digits))
        : ParseResult.fail(new ParseResult.Type(ast, digits)),
    encode: (value) => ParseResult.succeed(String(value))
  }).annotations(rule("type", butIs("must be an integer"), { type: "integer", minimum: min, maximum: max }))

/** The HTTP server checks this maximum before it decodes any item. */
export const maxItems =
  (max: number) =>
  <A extends ReadonlyArray<unknown>, I, R>(items: Schema.Schema<A, I, R>) =>
    items.pipe(
      Schema.filter(
        ({ length }) => length <= max,
        rule("maxItems", (items) => `must have at most ${max} items, but has ${Object(items).length}`, {
          maxItems: max
        })
      )
    )

export const nonEmptyArray = <A, I, R>(item: Schema.Schema<A, I, R>, max: number) =>
  Schema.Array(item).pipe(
    Schema.filter(
      ({ length }) => length >= 1,
      rule("minItems", "must have at least 1 item, but is empty", { minItems: 1 })
    ),
    maxItems(max)
  )

/** The HTTP server checks this maximum before it decodes any value. */
export const maxProperties =
  (max: number) =>
  <A extends object, I, R>(record: Schema.Schema<A, I, R>) =>
    record.pipe(
      Schema.filter(
        (value) => Object.keys(value).length <= max,
        rule("maxItems", (record) => `must have at most ${max} keys, but has ${Object.keys(Object(record)).length}`, {
          maxProperties: max
        })
      )
    )

export const oneOf = <const L extends readonly [string, ...Array<string>]>(...literals: L) =>
  Schema.Literal(...literals).annotations({
    [ConstraintId]: "enum" satisfies Constraint,
    message: ({ actual }) => ({ message: butIs(`must be one of ${literals.join(", ")}`)(actual), override: true })
  })

/** A boolean in a query string. */
export const QueryBoolean = Schema.transform(oneOf("true", "false"), Schema.Boolean, {
  decode: (text) => text === "true",
  encode: (value) => (value ? "true" : "false")
}).annotations({ jsonSchema: { type: "boolean" } })

export const Order = field(
  integer(0, Number.MAX_SAFE_INTEGER),
  "Position in lists, ascending. Items without it come last.",
  1
)

/** A timestamp in a response: ISO 8601 in UTC. The database layer returns timestamps in this form. */
export const Timestamp = Schema.String.annotations({ jsonSchema: { type: "string", format: "date-time" } })

const isoUtcPattern = /^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/
const dateTimeMessage = butIs("must be a date and time in UTC such as 2026-11-14T09:30:00Z")

/** `Date` accepts the 30th of February as a day in March. Comparing the result with the input rejects such dates. */
const parseDateTime = (text: string) => {
  const date = new Date(isoUtcPattern.test(text) ? text : Number.NaN)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text.slice(0, 19)) ? date : undefined
}

/** A date and time in a request: ISO 8601 in UTC, truncated to milliseconds. */
export const UtcDateTime = Schema.transformOrFail(Schema.String, Schema.String, {
  decode: (text, _, ast) => {
    const moment = parseDateTime(text)
    return moment === undefined
      ? ParseResult.fail(new ParseResult.Type(ast, text, dateTimeMessage(text)))
      : ParseResult.succeed(moment.toISOString())
  },
  encode: ParseResult.succeed
}).annotations({ jsonSchema: { type: "string", format: "date-time", pattern: "Z$" } })

export const timestamps = {
  createdAt: field(Timestamp, "When it was created.", "2026-11-14T09:30:00.000Z"),
  updatedAt: field(Timestamp, "When it last changed.", "2026-11-14T09:30:00.000Z")
}

/** An optional field. A response omits it instead of sending null. */
export const optional = <S extends Schema.Schema.All>(schema: S) => Schema.optionalWith(schema, { exact: true })

/**
 * An optional field with a default. Decoding does not apply the default; the code that reads the body does. The
 * description states it in words, because client generators treat a field with a JSON Schema `default` as required.
 */
export const optionalWithDefault = <A, I, R>(schema: Schema.Schema<A, I, R>, fallback: NoInfer<A>) =>
  optional(field(schema, [descriptionOf(schema), `Default: ${fallback}.`].filter(Boolean).join(" ")))

/** Decoding a request body reports all errors at once and rejects unknown properties. */
const strict = { parseOptions: { errors: "all", onExcessProperty: "error" } } as const

export const body = <F extends Schema.Struct.Fields>(fields: F) => Schema.Struct(fields).annotations(strict)

type Optional<S extends Schema.Schema.All> = Schema.optionalWith<S, { readonly exact: true }>
type Patchable<F> =
  F extends Optional<infer S> ? Optional<Schema.NullOr<S>> : F extends Schema.Schema.All ? Optional<F> : never

const isOptional = (field: Schema.Struct.Field): field is Optional<Schema.Schema.All> =>
  Schema.isPropertySignature(field) && "from" in field

/** The schema with null, which removes the value of an optional field. */
const nullable = (schema: Schema.Schema.All) => {
  const description = descriptionOf(schema)
  const union = Schema.NullOr(schema)
  return description === undefined ? union : field(union, `${description} null removes it.`)
}

/** The body of a PATCH: every field is optional, null clears an optional field, and an empty body is invalid. */
export const patch = <F extends Schema.Struct.Fields>(fields: F) => {
  const changeable = Object.entries(fields).map(([name, field]) => [
    name,
    isOptional(field) ? optional(nullable(field.from)) : optional(field as Schema.Schema.All)
  ])
  // Object.fromEntries loses the type of each field; the mapped type restores it.
  const struct = Schema.Struct(Object.fromEntries(changeable) as { readonly [K in keyof F]: Patchable<F[K]> })
  return struct
    .annotations(strict)
    .pipe(
      Schema.filter(
        (change) => Object.keys(change).length > 0,
        rule("required", "must contain at least one field to change", { minProperties: 1 })
      )
    )
}

/** The decoded body of a PATCH. */
export type Patch<A> = { readonly [K in keyof A]?: A[K] | null }

/** Applies a PATCH to a resource. */
export const applyPatch = <A extends object>(value: A, change: Patch<A>): A => {
  const merged = Object.entries({ ...value, ...change }).filter(([, field]) => field !== null)
  return Object.fromEntries(merged) as A // only optional fields can be null in a change
}
