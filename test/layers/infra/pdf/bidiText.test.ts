import { assert, describe, it } from "vitest"
import { toVisualOrder } from "../../../../src/layers/infra/pdf/drawing/BidiText.ts"

describe("toVisualOrder", () => {
  it.each([
    ["Inspection of 12 pumps", "Inspection of 12 pumps"],
    ["אחד שתיים שלוש", "שלוש שתיים אחד"],
    ["אחד 12 שתיים", "שתיים 12 אחד"],
    ["אחד Pump works שתיים", "שתיים Pump works אחד"],
    ["Pump אחד שתיים works", "Pump שתיים אחד works"],
    ["Pump אחד", "Pump אחד"],
    ["", ""]
  ])("converts %j to %j", (line, expected) => {
    assert.strictEqual(toVisualOrder(line), expected)
  })
})
