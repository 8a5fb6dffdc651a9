import { Either, Schema } from "effect"
import { assert, describe, it } from "vitest"
import {
  applyPatch,
  body,
  field,
  integer,
  maxItems,
  maxProperties,
  nonEmptyArray,
  oneOf,
  optional,
  optionalWithDefault,
  patch,
  QueryBoolean,
  queryInteger,
  rule,
  text,
  UtcDateTime
} from "../../src/domain/Schemas.ts"
import { decode, jsonSchemaOf, schemaErrorsOf } from "../support/assertions/schemaErrors.ts"

describe("queryInteger", () => {
  const makeLimit = () => queryInteger(1, 200)

  it("reads an integer of up to 16 digits", () => {
    assert.strictEqual(decode(makeLimit(), "200"), 200)
    assert.strictEqual(decode(queryInteger(-9, 9), "-9"), -9)
    assert.strictEqual(decode(queryInteger(0, Number.MAX_SAFE_INTEGER), "9007199254740991"), 9007199254740991)
    assert.strictEqual(Schema.encodeSync(makeLimit())(7), "7")
  })

  it("rejects everything else", () => {
    for (const value of ["", "x", "1x", "x1", "1.5", "1e1", " 1", "--1", "12345678901234567"])
      assert.deepStrictEqual(
        schemaErrorsOf(makeLimit(), value),
        [`body type: must be an integer, but is "${value}"`],
        value
      )
  })

  it("rejects an integer out of range", () => {
    assert.deepStrictEqual(schemaErrorsOf(makeLimit(), "0"), ["body min: must be at least 1, but is 0"])
    assert.deepStrictEqual(schemaErrorsOf(makeLimit(), "201"), ["body max: must be at most 200, but is 201"])
  })

  it("documents its bounds", () => {
    assert.deepStrictEqual(jsonSchemaOf(makeLimit()), { type: "integer", minimum: 1, maximum: 200 })
  })
})

describe("QueryBoolean", () => {
  it("reads and writes true and false, and nothing else", () => {
    assert.isTrue(decode(QueryBoolean, "true"))
    assert.isFalse(decode(QueryBoolean, "false"))
    assert.strictEqual(Schema.encodeSync(QueryBoolean)(true), "true")
    assert.strictEqual(Schema.encodeSync(QueryBoolean)(false), "false")
    assert.deepStrictEqual(schemaErrorsOf(QueryBoolean, "1"), [`body enum: must be one of true, false, but is "1"`])
    assert.deepStrictEqual(jsonSchemaOf(QueryBoolean), { type: "boolean" })
  })
})

describe("maxItems, nonEmptyArray and maxProperties", () => {
  it("bound the size of a list and of a record", () => {
    const Few = Schema.Array(Schema.Number).pipe(maxItems(2))
    assert.isUndefined(schemaErrorsOf(Few, [1, 2]))
    assert.deepStrictEqual(schemaErrorsOf(Few, [1, 2, 3]), ["body maxItems: must have at most 2 items, but has 3"])
    assert.deepInclude(jsonSchemaOf(Few), { maxItems: 2 })

    const Some = nonEmptyArray(Schema.Number, 2)
    assert.isUndefined(schemaErrorsOf(Some, [1]))
    assert.deepStrictEqual(schemaErrorsOf(Some, []), ["body minItems: must have at least 1 item, but is empty"])
    assert.deepStrictEqual(schemaErrorsOf(Some, [1, 2, 3]), ["body maxItems: must have at most 2 items, but has 3"])
    assert.deepInclude(jsonSchemaOf(Some), { minItems: 1, maxItems: 2 })

    const Small = Schema.Record({ key: Schema.String, value: Schema.Number }).pipe(maxProperties(1))
    assert.isUndefined(schemaErrorsOf(Small, { a: 1 }))
    assert.deepStrictEqual(schemaErrorsOf(Small, { a: 1, b: 2 }), [
      "body maxItems: must have at most 1 keys, but has 2"
    ])
    assert.deepInclude(jsonSchemaOf(Small), { maxProperties: 1 })
  })
})

describe("oneOf", () => {
  it("accepts its values and names them in the error", () => {
    const Answer = oneOf("YES", "NO")
    assert.isUndefined(schemaErrorsOf(Answer, "NO"))
    for (const value of ["yes", 1, null])
      assert.deepStrictEqual(schemaErrorsOf(Answer, value), [
        `body enum: must be one of YES, NO, but is ${JSON.stringify(value)}`
      ])
    const decoded = Schema.decodeUnknownEither(Answer)("yes")
    assert.strictEqual(Either.isLeft(decoded) ? decoded.left.message : "", `must be one of YES, NO, but is "yes"`)
  })
})

describe("rule", () => {
  it("has an empty JSON Schema by default", () => {
    assert.deepStrictEqual(rule("format", "must be fine").jsonSchema, {})
    assert.strictEqual(rule("format", "must be fine").message({ actual: "bad" }), "must be fine")
  })
})

describe("UtcDateTime", () => {
  it.each<[text: string, decoded: string]>([
    ["2026-11-14T09:30:00Z", "2026-11-14T09:30:00.000Z"],
    ["2026-11-14T09:30:00.1Z", "2026-11-14T09:30:00.100Z"],
    ["2026-11-14T09:30:00.123456789Z", "2026-11-14T09:30:00.123Z"],
    ["2024-02-29T23:59:59Z", "2024-02-29T23:59:59.000Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"]
  ])("reads %s to the millisecond", (text, decoded) => {
    assert.strictEqual(decode(UtcDateTime, text), decoded)
  })

  it.each([
    "2026-02-30T00:00:00Z",
    "2025-02-29T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-11-14T24:00:00Z",
    "2026-11-14T09:60:00Z",
    "2026-11-14T09:30:00",
    "2026-11-14T09:30:00+00:00",
    "2026-11-14T09:30Z",
    "2026-11-14",
    "2026-11-14T09:30:00.1234567890Z",
    "2026-11-14T09:30:00.Z",
    " 2026-11-14T09:30:00Z",
    "2026-11-14T09:30:00Z ",
    "0000-01-01T00:00:00Z",
    "+012026-11-14T09:30:00Z",
    "soon"
  ])("rejects %s", (text) => {
    assert.deepStrictEqual(schemaErrorsOf(UtcDateTime, text), [
      `body format: must be a date and time in UTC such as 2026-11-14T09:30:00Z, but is "${text}"`
    ])
  })

  it("encodes what it has decoded unchanged", () => {
    assert.strictEqual(Schema.encodeSync(UtcDateTime)("2026-11-14T09:30:00.000Z"), "2026-11-14T09:30:00.000Z")
  })
})

describe("body", () => {
  it("reports all errors at once and rejects unknown properties", () => {
    const Thing = body({ name: Schema.String, count: Schema.Number })
    assert.deepStrictEqual(schemaErrorsOf(Thing, { name: 1, colour: "red" })?.toSorted(), [
      "colour unknown: is not a known property",
      "count required: is required",
      "name type: must be a string, but is a number"
    ])
  })
})

describe("optional", () => {
  it("accepts a missing field and no undefined one", () => {
    const Thing = body({ note: optional(Schema.String) })
    assert.deepStrictEqual(decode(Thing, {}), {})
    assert.deepStrictEqual(schemaErrorsOf(Thing, { note: undefined }), ["note type: must be a string, but is missing"])
  })
})

describe("optionalWithDefault", () => {
  it("names the default in words and leaves it to the reader of the body to apply it", () => {
    const Wait = body({ days: optionalWithDefault(field(integer(0, 365), "Days to wait.", 14), 30) })
    assert.deepStrictEqual(decode(Wait, {}), {})
    assert.deepInclude(jsonSchemaOf(Wait), {
      properties: {
        days: { type: "integer", minimum: 0, maximum: 365, description: "Days to wait. Default: 30.", examples: [14] }
      },
      required: []
    })
  })
})

describe("field", () => {
  it("adds a sentence and an example to every kind of schema, and keeps its bounds and errors", () => {
    const Name = field(text(1, 5), "A name.", "Ada")
    assert.deepStrictEqual(jsonSchemaOf(Name), {
      type: "string",
      minLength: 1,
      maxLength: 5,
      description: "A name.",
      examples: ["Ada"]
    })
    assert.deepStrictEqual(schemaErrorsOf(Name, ""), ["body minLength: must have at least 1 character, but is empty"])
    const Count = field(integer(1, 9), "A count.")
    assert.deepStrictEqual(jsonSchemaOf(Count), { type: "integer", minimum: 1, maximum: 9, description: "A count." })
    assert.deepStrictEqual(schemaErrorsOf(Count, 1.5), ["body type: must be an integer, but is 1.5"])
    const When = field(UtcDateTime, "A time.", "2026-11-14T09:30:00.000Z")
    assert.deepInclude(jsonSchemaOf(When), { description: "A time.", examples: ["2026-11-14T09:30:00.000Z"] })
  })
})

describe("patch", () => {
  const makeChange = () => patch({ name: text(1, 5), note: optional(Schema.String) })

  it("makes every field optional, and lets null clear an optional field", () => {
    for (const change of [{ name: "a" }, { note: "b" }, { note: null }, { name: "a", note: null }])
      assert.deepStrictEqual<unknown>(decode(makeChange(), change), change)
    assert.deepStrictEqual(schemaErrorsOf(makeChange(), { name: null }), ["name type: must be a string, but is null"])
  })

  it("says in the sentence about an optional field that null removes it", () => {
    const Change = patch({ note: optional(field(text(0, 5), "A note.")), name: field(text(1, 5), "A name.") })
    assert.deepInclude(jsonSchemaOf(Change), {
      properties: {
        note: {
          anyOf: [{ type: "string", maxLength: 5, description: "A note." }, { type: "null" }],
          description: "A note. null removes it."
        },
        name: { type: "string", minLength: 1, maxLength: 5, description: "A name." }
      }
    })
  })

  it("rejects an empty body and reports all errors of another at once", () => {
    assert.deepStrictEqual(schemaErrorsOf(makeChange(), {}), [
      "body required: must contain at least one field to change"
    ])
    assert.deepStrictEqual(schemaErrorsOf(makeChange(), { name: 1, colour: "red" })?.toSorted(), [
      "colour unknown: is not a known property",
      "name type: must be a string, but is a number"
    ])
    assert.deepInclude(jsonSchemaOf(makeChange()), { minProperties: 1 })
  })
})

describe("applyPatch", () => {
  it("changes the given fields, removes those that are null and keeps the rest", () => {
    const value: { readonly name: string; readonly note?: string; readonly order?: number } = { name: "a", note: "b" }
    assert.deepStrictEqual(applyPatch(value, { name: "c", order: 1 }), { name: "c", note: "b", order: 1 })
    assert.deepStrictEqual(applyPatch(value, { note: null }), { name: "a" })
    assert.deepStrictEqual(applyPatch(value, {}), value)
  })
})
