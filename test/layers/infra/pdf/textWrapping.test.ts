import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { maxLineBreaks, wrapLines } from "../../../../src/layers/infra/pdf/drawing/TextWrapping.ts"

const width = 30
const widthOf = (text: string) => [...text].length
const wrap = (text: string) => wrapLines(text, width, widthOf)

const withoutSpaces = (text: string) => text.replace(/\s/g, "")

describe("wrapLines", () => {
  it("keeps the line breaks of an ordinary text, without empty lines", () => {
    assert.deepStrictEqual(wrap("Day one\nDay two \n\n\nDay three"), ["Day one", "Day two", "Day three"])
  })

  it("turns the line breaks after the first forty into spaces", () => {
    const lines = wrap(Array.from({ length: 60 }, (_, n) => `${n}`).join("\n"))
    assert.deepStrictEqual(
      lines.slice(0, maxLineBreaks),
      Array.from({ length: maxLineBreaks }, (_, n) => `${n}`)
    )
    assert.deepStrictEqual(lines.slice(maxLineBreaks), [
      "40 41 42 43 44 45 46 47 48 49",
      "50 51 52 53 54 55 56 57 58 59"
    ])
  })

  it("keeps all words of any text in their order, in a height that its length bounds", () => {
    const texts = fc.array(fc.oneof(fc.constantFrom("\n", " ", "\n\n"), fc.string({ maxLength: 40 })), {
      maxLength: 200
    })
    fc.assert(
      fc.property(texts, (parts) => {
        const text = parts.join("")
        const lines = wrap(text)
        assert.strictEqual(withoutSpaces(lines.join("")), withoutSpaces(text))
        assert.isAtMost(lines.length, 2 * maxLineBreaks + 2 + (2 * widthOf(text)) / width)
      })
    )
  })
})
