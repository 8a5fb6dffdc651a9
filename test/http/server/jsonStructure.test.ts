import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { type JsonStructure, measureJson } from "../../../src/http/server/request/JsonStructure.ts"

const unlimited: JsonStructure = { values: Number.POSITIVE_INFINITY, depth: Number.POSITIVE_INFINITY }

const measure = (text: string, max = unlimited) => measureJson(Buffer.from(text), max)

/** The structure of a value that `JSON.parse` built. */
const structureOf = (value: unknown): JsonStructure => {
  if (typeof value !== "object" || value === null) return { values: 1, depth: 0 }
  return Object.values(value)
    .map(structureOf)
    .reduce((sum, { depth, values }) => ({ values: sum.values + values, depth: Math.max(sum.depth, depth + 1) }), {
      values: 1,
      depth: 1
    })
}

describe("measureJson", () => {
  it("counts the same values and depth as JSON.parse for any JSON", () => {
    const indents = fc.constantFrom("", " ", "\t", "\r\n")
    fc.assert(
      fc.property(fc.jsonValue({ depthSize: "large", maxDepth: 8 }), indents, (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        assert.deepStrictEqual(measure(text), structureOf(JSON.parse(text)))
      }),
      { numRuns: 300 }
    )
  })

  it.each<[string, JsonStructure]>([
    ["1", { values: 1, depth: 0 }],
    ["{}", { values: 1, depth: 1 }],
    [" [ ] ", { values: 1, depth: 1 }],
    ["[[],{}]", { values: 3, depth: 2 }],
    [`{"a":{"b":[1,2]},"c":null}`, { values: 6, depth: 3 }],
    [String.raw`["[{,\"]}","\\",",\\\"[" ]`, { values: 4, depth: 1 }],
    [`["é[,"]`, { values: 2, depth: 1 }]
  ])("counts the values and the depth of %s", (text, expected) => {
    assert.deepStrictEqual(measure(text), expected)
    assert.deepStrictEqual(structureOf(JSON.parse(text)), expected)
  })

  it("finds the end of long strings, whatever is escaped in them", () => {
    const pieces = fc.constantFrom("\\", '"', "[", ",", "é", "text ".repeat(7))
    const texts = fc.array(pieces, { minLength: 5, maxLength: 60 }).map((parts) => parts.join(""))
    fc.assert(
      fc.property(fc.array(texts), (values) => {
        assert.deepStrictEqual(measure(JSON.stringify(values)), structureOf(values))
      }),
      { numRuns: 300 }
    )
  })

  it("returns a result for any bytes, whether they are JSON or not", () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const { depth, values } = measureJson(bytes, unlimited)
        assert.isTrue(values >= 1 && depth >= 0)
      })
    )
    for (const text of [`"never closed`, `"ends in \\`, "]]]]", "[[[["]) assert.isAtLeast(measure(text).values, 1)
  })

  it("stops at the first value or level beyond the maximum", () => {
    const max = { values: 3, depth: 2 }
    assert.deepStrictEqual(measure(`[1,2${",3".repeat(1000)}]`, max), { values: 4, depth: 1 })
    assert.deepStrictEqual(measure("[".repeat(1000), max), { values: 1, depth: 3 })
    assert.deepStrictEqual(measure("[[],{}]", max), { values: 3, depth: 2 })
  })
})
