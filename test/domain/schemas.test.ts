import { ParseResult, Schema } from "effect"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { ConstraintId, combineChecks, decimal, integer, text } from "../../src/domain/Schemas.ts"
import { jsonSchemaOf, schemaErrorsOf } from "../support/assertions/schemaErrors.ts"

describe("text", () => {
  it("accepts exactly the lengths from min to max, in code points", () => {
    const [min, max] = [2, 5]
    const isText = Schema.is(text(min, max))
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("a", "é", "\u{1F600}"), maxLength: 8 }), (value) => {
        const length = [...value].length
        assert.strictEqual(isText(value), length >= min && length <= max, value)
      })
    )
  })

  it.each<[value: string, isAccepted: boolean]>([
    ["a", false],
    ["\u{1F600}", false],
    ["ab", true],
    ["\u{1F600}\u{1F600}", true],
    ["abcde", true],
    ["\u{1F600}".repeat(5), true],
    ["abcdef", false],
    ["abcd\u{1F600}", true],
    ["\u{1F600}".repeat(6), false]
  ])("counts a character outside of the basic plane once: %s", (value, isAccepted) => {
    assert.strictEqual(Schema.is(text(2, 5))(value), isAccepted)
  })

  it("names the violated bound", () => {
    assert.deepStrictEqual(schemaErrorsOf(text(1, 3), ""), [
      "body minLength: must have at least 1 character, but is empty"
    ])
    assert.deepStrictEqual(schemaErrorsOf(text(2, 3), "a"), [
      "body minLength: must have at least 2 characters, but has 1"
    ])
    assert.deepStrictEqual(schemaErrorsOf(text(0, 3), "abcd"), [
      "body maxLength: must have at most 3 characters, but has 4"
    ])
    assert.deepStrictEqual(schemaErrorsOf(text(0, 1), "ab"), [
      "body maxLength: must have at most 1 character, but has 2"
    ])
    const tooLong = (length: string) => [`body maxLength: must have at most 1 character, but has ${length}`]
    assert.deepStrictEqual(schemaErrorsOf(text(0, 1), "\u{1F600}".repeat(2)), tooLong("2"))
    assert.deepStrictEqual(schemaErrorsOf(text(0, 1), "a".repeat(10_000)), tooLong("10000"))
    assert.deepStrictEqual(schemaErrorsOf(text(0, 1), "a".repeat(10_001)), tooLong("more than 5000"))
  })

  it("rejects what PostgreSQL cannot store, before anything else", () => {
    for (const value of ["\u0000", "a\ud800"])
      assert.deepStrictEqual(schemaErrorsOf(text(5, 9), value), [
        "body pattern: must not contain NUL or unpaired surrogates"
      ])
  })

  it("documents its bounds, and no minimum of zero", () => {
    assert.deepStrictEqual(jsonSchemaOf(text(1, 3)), { type: "string", minLength: 1, maxLength: 3 })
    assert.deepStrictEqual(jsonSchemaOf(text(0, 3)), { type: "string", maxLength: 3 })
  })
})

describe("integer", () => {
  it("accepts the integers from min to max", () => {
    const Range = integer(-2, 3)
    for (const value of [-2, 0, 3]) assert.isUndefined(schemaErrorsOf(Range, value))
    assert.deepStrictEqual(schemaErrorsOf(Range, -3), ["body min: must be at least -2, but is -3"])
    assert.deepStrictEqual(schemaErrorsOf(Range, 4), ["body max: must be at most 3, but is 4"])
    assert.deepStrictEqual(schemaErrorsOf(Range, 1.5), ["body type: must be an integer, but is 1.5"])
    assert.deepStrictEqual(jsonSchemaOf(Range), { type: "integer", minimum: -2, maximum: 3 })
  })
})

describe("decimal", () => {
  const decimals = (value: number) => (String(value).split(".")[1] ?? "").length
  const makeRange = () => decimal(-1, 2, 2, decimals)

  it("accepts numbers from min to max with few enough decimals", () => {
    for (const value of [-1, 0.25, 2]) assert.isUndefined(schemaErrorsOf(makeRange(), value))
    assert.deepStrictEqual(schemaErrorsOf(makeRange(), -1.01), ["body min: must be at least -1, but is -1.01"])
    assert.deepStrictEqual(schemaErrorsOf(makeRange(), 2.01), ["body max: must be at most 2, but is 2.01"])
    assert.deepStrictEqual(schemaErrorsOf(makeRange(), 0.125), [
      "body format: must have at most 2 decimals, but is 0.125"
    ])
    assert.deepStrictEqual(jsonSchemaOf(makeRange()), { type: "number", minimum: -1, maximum: 2 })
  })

  it("rejects what is not a finite number", () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])
      assert.deepStrictEqual(schemaErrorsOf(makeRange(), value), [`body type: must be a number, but is ${value}`])
  })
})

describe("combineChecks", () => {
  const positive = { test: (value: number) => value > 0, constraint: "min", message: "must be positive" } as const
  const even = { test: (value: number) => value % 2 === 0, constraint: "format", message: "must be even" } as const
  const combine = () => combineChecks<number>(positive, even)

  it("reports the first violated rule", () => {
    const { annotations, test } = combine()
    const EvenNumber = Schema.Number.pipe(Schema.filter(test, annotations))
    assert.isUndefined(schemaErrorsOf(EvenNumber, 2))
    assert.deepStrictEqual(schemaErrorsOf(EvenNumber, 3), ["body format: must be even"])
    assert.deepStrictEqual(schemaErrorsOf(EvenNumber, -3), ["body min: must be positive"])
  })

  it("has a general error for a value that violates no rule", () => {
    const { annotations } = combine()
    assert.strictEqual(annotations[ConstraintId](2), "type")
    assert.strictEqual(annotations.message(new ParseResult.Type(Schema.Number.ast, 2)), "is not allowed")
  })
})
