import * as fc from "fast-check"
import type { OpenApiDocument } from "../../src/http/api/OpenApi.ts"
import { prefixOf } from "./minimalBodies.ts"
import { type JsonSchema, type Operation, operationsOf } from "./operations.ts"

/** What is tried in any place, since it has broken something somewhere. */
const hostile = fc.constantFrom<unknown>(
  null,
  true,
  "",
  " ",
  "\u0000",
  "a\ud800b",
  "\u{1F600}".repeat(200),
  "n".repeat(201),
  "__proto__",
  "constructor",
  "'; drop table clients; --",
  "tnt_a",
  -0,
  -1,
  0.1,
  2 ** 31,
  2 ** 53 - 1,
  2 ** 53,
  1e308,
  [],
  {},
  [[]],
  { $ref: "#" },
  JSON.parse(`{"__proto__":{"name":"a"}}`)
)

const anything = fc.oneof(
  { weight: 3, arbitrary: hostile },
  fc.jsonValue({ maxDepth: 3 }),
  fc.string({ unit: "binary" })
)

const moment = fc.date({ noInvalidDate: true, min: new Date(0) }).map((date) => date.toISOString())

/** An identifier that nothing has, or a word in its place that whoever sends the body replaces by a known one. */
const identifier = (prefix: string) =>
  fc.oneof(
    { weight: 5, arbitrary: fc.constant(`${prefix}_known`) },
    fc.stringMatching(new RegExp(`^${prefix}_[a-z0-9]{1,64}$`))
  )

/** Values that meet a schema of the document; long texts are left to the tests of the bounds. */
const meeting = (document: OpenApiDocument, schema: JsonSchema): fc.Arbitrary<unknown> => {
  if (schema.$ref !== undefined) {
    return meeting(document, document.components.schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {})
  }
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map((one) => meeting(document, one)))
  if (schema.format === "date-time") return moment
  if (schema.format === "email") return fc.emailAddress()
  if (schema.pattern === "^[A-Z]{3}$") return fc.constantFrom("EUR", "EUR", "JPY", "KWD", "AAA")
  const prefix = prefixOf(schema)
  if (prefix !== undefined) return identifier(prefix)
  if (schema.pattern !== undefined) return fc.stringMatching(new RegExp(schema.pattern))
  switch (schema.type) {
    case "string":
      return fc.string({ unit: "grapheme", minLength: 1, maxLength: Math.min(schema.maxLength ?? 30, 30) })
    case "integer":
    case "number":
      return fc.integer({
        min: schema.minimum ?? 0,
        max: Math.min(schema.maximum ?? Number.POSITIVE_INFINITY, 2 ** 31 - 1)
      })
    case "boolean":
      return fc.boolean()
    case "null":
      return fc.constant(null)
    case "array":
      return fc.array(meeting(document, schema.items ?? {}), { minLength: schema.minItems ?? 0, maxLength: 3 })
    case "object":
      return fc
        .record(
          Object.fromEntries(
            Object.entries(schema.properties ?? {}).map(([name, property]) => [name, meeting(document, property)])
          ),
          { requiredKeys: [...(schema.required ?? [])] }
        )
        .filter((value) => Object.keys(value).length >= (schema.minProperties ?? 0))
    default:
      return anything
  }
}

interface Mutation {
  readonly at: number
  readonly as: "drop" | "set" | "add" | "nest"
  readonly key: string
  readonly value: unknown
}

const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.nat(100),
  as: fc.constantFrom("drop", "set", "set", "set", "add", "nest"),
  key: fc.oneof(fc.string({ unit: "binary", maxLength: 10 }), fc.constantFrom("__proto__", "constructor", "id", "")),
  value: anything
})

const mutate = (value: unknown, { as, at, key, value: other }: Mutation): unknown => {
  if (typeof value !== "object" || value === null) return other
  const entries = Object.entries(value)
  const chosen = entries[at % Math.max(1, entries.length)]?.[0]
  switch (as) {
    case "drop":
      return Object.fromEntries(entries.filter(([name]) => name !== chosen))
    case "set":
      return Object.fromEntries(entries.map(([name, kept]) => [name, name === chosen ? other : kept]))
    case "add":
      return Object.fromEntries([...entries, [key, other]])
    case "nest":
      return { [key]: value }
  }
}

const mutated = (valid: fc.Arbitrary<unknown>) =>
  fc
    .tuple(valid, fc.array(mutation, { minLength: 1, maxLength: 3 }))
    .map(([value, changes]) => changes.reduce(mutate, value))

const textOf = (value: unknown) => JSON.stringify(value) ?? "null"

/** The text of a body: a good one, one that was good, any JSON, or a torn one. */
const bodyOf = (document: OpenApiDocument, { body, method }: Operation): fc.Arbitrary<string | undefined> => {
  if (method === "GET") return fc.constant(undefined)
  const valid = body === undefined ? fc.constant(undefined) : meeting(document, body)
  return fc.oneof(
    { weight: 10, arbitrary: valid.map((value) => (value === undefined ? undefined : textOf(value))) },
    { weight: 6, arbitrary: mutated(body === undefined ? anything : valid).map(textOf) },
    { weight: 2, arbitrary: anything.map(textOf) },
    { weight: 1, arbitrary: fc.tuple(anything, fc.nat(20)).map(([value, end]) => textOf(value).slice(0, end)) }
  )
}

const octets = fc.string({
  unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)),
  maxLength: 40
})
const headerValue = octets.map((text) => text.replaceAll("\u007f", "").trim())

/** One time in `times`, and otherwise not at all. */
const once = <A>(times: number, arbitrary: fc.Arbitrary<A>) =>
  fc.oneof({ weight: times - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary })

const headers = fc
  .record({
    "idempotency-key": once(5, fc.oneof(fc.constantFrom("one", "two", "three"), headerValue)),
    "if-match": once(5, fc.oneof(fc.constantFrom("*", '"a", "b"', "W/*"), headerValue)),
    "if-none-match": once(5, fc.oneof(fc.constantFrom("*"), headerValue)),
    "content-type": once(20, headerValue),
    "x-request-id": once(5, headerValue),
    accept: once(5, headerValue),
    origin: once(5, headerValue),
    cookie: once(5, headerValue)
  })
  .map((all) =>
    Object.fromEntries(Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
  )

const queryValue = fc.oneof(
  fc.constantFrom("1", "200", "0", "201", "-1", "1e1", "", "WzEsInRudF9hIl0", "contract"),
  fc.string({ unit: "binary" })
)

/** Whether a place is filled with something known, something foreign, something odd, or not at all. */
const place = fc.record({
  choice: fc.oneof({ weight: 20, arbitrary: fc.constant("known" as const) }, fc.constantFrom("foreign", "odd", "none")),
  index: fc.nat(1000),
  odd: fc.oneof(
    headerValue.map((text) => (text === "" ? "_" : text)),
    fc.constantFrom("tnt_a", "tnt_", "clnt_a", "..", "%00")
  )
})

/** Any request at any operation of the document, most of them with a chance to get through. */
export const anyRequest = (document: OpenApiDocument) => {
  const names = Object.values(document.paths)
    .flatMap((operations) => Object.values(operations))
    .flatMap(({ parameters }) => parameters as ReadonlyArray<{ readonly name: string; readonly in: string }>)
    .flatMap((parameter) => (parameter.in === "query" ? [parameter.name] : []))
  const queryName = fc.oneof(fc.constantFrom("unknown", ...names), fc.string())
  const query = fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    fc.array(fc.tuple(queryName, queryValue), { maxLength: 3 })
  )
  return fc.constantFrom(...operationsOf(document)).chain((operation) =>
    fc.record({
      operation: fc.constant(operation),
      caller: place,
      tenant: place,
      id: place,
      query: query.map((pairs) => new URLSearchParams(pairs).toString()),
      headers,
      body: bodyOf(document, operation)
    })
  )
}

export type AnyRequest = ReturnType<typeof anyRequest> extends fc.Arbitrary<infer A> ? A : never
