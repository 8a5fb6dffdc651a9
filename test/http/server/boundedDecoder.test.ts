import { Effect, Either, Schema } from "effect"
import { assert, describe, it } from "vitest"
import { maxDetails } from "../../../src/domain/Errors.ts"
import { body, integer, maxItems, maxProperties, oneOf, optional, patch } from "../../../src/domain/Schemas.ts"
import { makeBoundedDecoder } from "../../../src/http/server/request/BoundedDecoder.ts"
import { toValidationDetails } from "../../../src/http/server/request/ValidationDetails.ts"

/** An integer that counts how often it is decoded. */
const counting = () => {
  let decoded = 0
  const Counted = integer(0, 100).pipe(
    Schema.filter(() => {
      decoded++
      return true
    })
  )
  return { Counted, decoded: () => decoded }
}

const facts = async (schema: Schema.Schema.All, value: unknown) => {
  const result = await Effect.runPromise(Effect.either(makeBoundedDecoder(schema.ast)(value)))
  return Either.isLeft(result)
    ? toValidationDetails(result.left, "body").map(({ constraint, field, message }) => [field, constraint, message])
    : result.right
}

const many = <A>(length: number, item: A) => Array.from({ length }, () => item)
const keyed = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, value]))

describe("boundedDecoder", () => {
  it("rejects an array that is too long by one fault, and decodes none of its elements", async () => {
    const { Counted, decoded } = counting()
    const schema = body({ items: Schema.Array(body({ n: Counted })).pipe(maxItems(3)) })
    assert.deepStrictEqual(await facts(schema, { items: many(4, { n: 1 }) }), [
      ["items", "maxItems", "must have at most 3 items"]
    ])
    assert.strictEqual(decoded(), 0)
    assert.deepStrictEqual(await facts(schema, { items: many(3, { n: 1 }) }), { items: many(3, { n: 1 }) })
    assert.strictEqual(decoded(), 3)
  })

  it("rejects a record of too many keys by one fault, and decodes none of its values", async () => {
    const { Counted, decoded } = counting()
    const schema = patch({
      record: optional(Schema.Record({ key: Schema.String, value: Counted }).pipe(maxProperties(2)))
    })
    assert.deepStrictEqual(await facts(schema, { record: keyed(3, 1) }), [
      ["record", "maxItems", "must have at most 2 keys"]
    ])
    assert.strictEqual(decoded(), 0)
    assert.deepStrictEqual(await facts(schema, { record: keyed(2, 1) }), { record: keyed(2, 1) })
    assert.deepStrictEqual(await facts(schema, { record: null }), { record: null })
  })

  it("keeps a key called __proto__ as any other, and leaves prototypes alone", async () => {
    const schema = body({
      record: Schema.Record({ key: Schema.String, value: Schema.Unknown }).pipe(maxProperties(3))
    })
    const text = '{"record":{"a":1,"__proto__":{"b":2},"constructor":3}}'
    const decoded = await facts(schema, JSON.parse(text))
    assert.strictEqual(JSON.stringify(decoded), text)
    assert.strictEqual(Object.getPrototypeOf(Object(decoded).record), Object.prototype)
    const strict = await facts(body({ a: Schema.Unknown }), JSON.parse('{"a":1,"__proto__":2}'))
    assert.deepStrictEqual(strict, [["__proto__", "unknown", "is not a known property"]])
  })

  it("stops decoding elements once their faults fill an answer", async () => {
    const { Counted, decoded } = counting()
    const schema = body({ items: Schema.Array(body({ n: Counted, no: Schema.String })).pipe(maxItems(10_000)) })
    const found = await facts(schema, { items: many(10_000, { n: 1, also: 1 }) })
    assert.lengthOf(found as ReadonlyArray<unknown>, maxDetails)
    assert.strictEqual(decoded(), maxDetails / 2, "each of these elements has two faults")
  })

  it("reports the first unknown keys of a flood and nothing else", async () => {
    const { Counted, decoded } = counting()
    const schema = body({ n: Counted })
    const found = await facts(schema, { ...keyed(50_000, 1), n: 1 })
    assert.deepStrictEqual(
      found,
      Array.from({ length: maxDetails }, (_, index) => [`key${index}`, "unknown", "is not a known property"])
    )
    assert.strictEqual(decoded(), 0)
  })

  it("reports unknown keys beside other faults while there is room", async () => {
    const schema = body({ n: integer(0, 1), nested: body({ m: integer(0, 1) }) })
    assert.deepStrictEqual(await facts(schema, { n: 2, x: 1, nested: { m: "1", y: 1 } }), [
      ["x", "unknown", "is not a known property"],
      ["n", "max", "must be at most 1"],
      ["nested.y", "unknown", "is not a known property"],
      ["nested.m", "type", "must be a number"]
    ])
  })

  it("decodes arrays in arrays, however long both are", async () => {
    const schema = body({ rows: Schema.Array(Schema.Array(integer(0, 1)).pipe(maxItems(500))).pipe(maxItems(500)) })
    const rows = many(250, many(250, 1))
    assert.deepStrictEqual(await facts(schema, { rows }), { rows })
    assert.deepStrictEqual(await facts(schema, { rows: [[1], many(501, 1), 1] }), [
      ["rows[1]", "maxItems", "must have at most 500 items"],
      ["rows[2]", "type", "must be an array"]
    ])
  })

  it("lets other work run between the elements of a long array", async () => {
    const seen: Array<string> = []
    const Observed = Schema.String.pipe(Schema.filter(() => seen.push("element") > 0))
    const schema = body({ items: Schema.Array(Observed).pipe(maxItems(1000)) })
    const decoding = facts(schema, { items: many(1000, "a") })
    const other = new Promise<void>((resolve) => setImmediate(() => resolve(void seen.push("other"))))
    await Promise.all([decoding, other])
    assert.isBelow(seen.indexOf("other"), seen.lastIndexOf("element"))
  })

  it("still tells the members of a union apart by their literals", async () => {
    const schema = Schema.Union(
      body({ kind: oneOf("A"), a: Schema.String }),
      body({ kind: oneOf("B"), b: Schema.String })
    )
    assert.deepStrictEqual(await facts(schema, { kind: "B", b: "x" }), { kind: "B", b: "x" })
    assert.deepStrictEqual(await facts(schema, { kind: "B" }), [["b", "required", "is required"]])
  })

  it("is not made of a schema with an array or a record that has no maximum", () => {
    const endless = body({ items: Schema.Array(Schema.String) })
    const record = body({ record: Schema.Record({ key: Schema.String, value: Schema.String }) })
    assert.throws(() => makeBoundedDecoder(endless.ast), "maxItems")
    assert.throws(() => makeBoundedDecoder(record.ast), "maxProperties")
  })
})
