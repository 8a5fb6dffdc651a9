import { Effect, Either, Schema } from "effect"
import { assert, describe, it } from "vitest"
import { maxDetails } from "../../../src/domain/Errors.ts"
import { body, integer, maxItems, maxProperties, oneOf, optional, patch } from "../../../src/domain/Schemas.ts"
import { makeBoundedDecoder } from "../../../src/http/server/request/BoundedDecoder.ts"
import { toValidationDetails } from "../../../src/http/server/request/ValidationDetails.ts"

/** An integer schema that counts how often it decodes. */
const makeCountedInteger = () => {
  let decoded = 0
  const Counted = integer(0, 100).pipe(
    Schema.filter(() => {
      decoded++
      return true
    })
  )
  return { Counted, decoded: () => decoded }
}

/** The decoded value, or `[field, constraint, message]` of each error. */
const decode = async (schema: Schema.Schema.All, value: unknown) => {
  const result = await Effect.runPromise(Effect.either(makeBoundedDecoder(schema.ast)(value)))
  return Either.isLeft(result)
    ? toValidationDetails(result.left, "body").map(({ constraint, field, message }) => [field, constraint, message])
    : result.right
}

const repeat = <A>(length: number, item: A) => Array.from({ length }, () => item)
const makeRecord = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, value]))

describe("makeBoundedDecoder", () => {
  it("rejects an array beyond maxItems with one error and decodes none of its elements", async () => {
    const { Counted, decoded } = makeCountedInteger()
    const schema = body({ items: Schema.Array(body({ n: Counted })).pipe(maxItems(3)) })
    assert.deepStrictEqual(await decode(schema, { items: repeat(4, { n: 1 }) }), [
      ["items", "maxItems", "must have at most 3 items, but has 4"]
    ])
    assert.strictEqual(decoded(), 0)
    assert.deepStrictEqual(await decode(schema, { items: repeat(3, { n: 1 }) }), { items: repeat(3, { n: 1 }) })
    assert.strictEqual(decoded(), 3)
  })

  it("rejects a record beyond maxProperties with one error and decodes none of its values", async () => {
    const { Counted, decoded } = makeCountedInteger()
    const schema = patch({
      record: optional(Schema.Record({ key: Schema.String, value: Counted }).pipe(maxProperties(2)))
    })
    assert.deepStrictEqual(await decode(schema, { record: makeRecord(3, 1) }), [
      ["record", "maxItems", "must have at most 2 keys, but has 3"]
    ])
    assert.strictEqual(decoded(), 0)
    assert.deepStrictEqual(await decode(schema, { record: makeRecord(2, 1) }), { record: makeRecord(2, 1) })
    assert.deepStrictEqual(await decode(schema, { record: null }), { record: null })
  })

  it("keeps a key named __proto__ and leaves prototypes unchanged", async () => {
    const schema = body({
      record: Schema.Record({ key: Schema.String, value: Schema.Unknown }).pipe(maxProperties(3))
    })
    const text = '{"record":{"a":1,"__proto__":{"b":2},"constructor":3}}'
    const decoded = await decode(schema, JSON.parse(text))
    assert.strictEqual(JSON.stringify(decoded), text)
    assert.strictEqual(Object.getPrototypeOf(Object(decoded).record), Object.prototype)
    const strict = await decode(body({ a: Schema.Unknown }), JSON.parse('{"a":1,"__proto__":2}'))
    assert.deepStrictEqual(strict, [["__proto__", "unknown", "is not a known property"]])
  })

  it("stops decoding elements once their errors reach maxDetails", async () => {
    const { Counted, decoded } = makeCountedInteger()
    const schema = body({ items: Schema.Array(body({ n: Counted, no: Schema.String })).pipe(maxItems(10_000)) })
    const details = await decode(schema, { items: repeat(10_000, { n: 1, also: 1 }) })
    assert.lengthOf(details as ReadonlyArray<unknown>, maxDetails)
    assert.strictEqual(decoded(), maxDetails / 2, "each element has two errors")
  })

  it("reports only the first unknown keys of an object with thousands of them", async () => {
    const { Counted, decoded } = makeCountedInteger()
    const schema = body({ n: Counted })
    const details = await decode(schema, { ...makeRecord(50_000, 1), n: 1 })
    assert.deepStrictEqual(
      details,
      Array.from({ length: maxDetails }, (_, index) => [`key${index}`, "unknown", "is not a known property"])
    )
    assert.strictEqual(decoded(), 0)
  })

  it("reports unknown keys together with other errors", async () => {
    const schema = body({ n: integer(0, 1), nested: body({ m: integer(0, 1) }) })
    assert.deepStrictEqual(await decode(schema, { n: 2, x: 1, nested: { m: "1", y: 1 } }), [
      ["x", "unknown", "is not a known property"],
      ["n", "max", "must be at most 1, but is 2"],
      ["nested.y", "unknown", "is not a known property"],
      ["nested.m", "type", "must be a number, but is a string"]
    ])
  })

  it("decodes nested arrays with hundreds of elements each", async () => {
    const schema = body({ rows: Schema.Array(Schema.Array(integer(0, 1)).pipe(maxItems(500))).pipe(maxItems(500)) })
    const rows = repeat(250, repeat(250, 1))
    assert.deepStrictEqual(await decode(schema, { rows }), { rows })
    assert.deepStrictEqual(await decode(schema, { rows: [[1], repeat(501, 1), 1] }), [
      ["rows[1]", "maxItems", "must have at most 500 items, but has 501"],
      ["rows[2]", "type", "must be an array, but is a number"]
    ])
  })

  it("yields to other work between few elements that take long", async () => {
    const order: Array<string> = []
    const Slow = Schema.String.pipe(
      Schema.filter(() => {
        const endsAt = performance.now() + 2
        while (performance.now() < endsAt);
        return order.push("element") > 0
      })
    )
    const schema = body({ items: Schema.Array(Slow).pipe(maxItems(20)) })
    const decoding = decode(schema, { items: repeat(20, "a") })
    const other = new Promise<void>((resolve) => setImmediate(() => resolve(void order.push("other"))))
    await Promise.all([decoding, other])
    assert.isBelow(order.indexOf("other"), order.lastIndexOf("element"))
  })

  it("selects the member of a union by its literal", async () => {
    const schema = Schema.Union(
      body({ kind: oneOf("A"), a: Schema.String }),
      body({ kind: oneOf("B"), b: Schema.String })
    )
    assert.deepStrictEqual(await decode(schema, { kind: "B", b: "x" }), { kind: "B", b: "x" })
    assert.deepStrictEqual(await decode(schema, { kind: "B" }), [["b", "required", "is required"]])
  })

  it("throws for a schema with an array or a record without a maximum", () => {
    const unboundedArray = body({ items: Schema.Array(Schema.String) })
    const unboundedRecord = body({ record: Schema.Record({ key: Schema.String, value: Schema.String }) })
    assert.throws(() => makeBoundedDecoder(unboundedArray.ast), "maxItems")
    assert.throws(() => makeBoundedDecoder(unboundedRecord.ast), "maxProperties")
  })
})
