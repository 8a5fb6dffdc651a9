import { assert, describe, it } from "vitest"
import { isStorable, toStorableText } from "../../src/domain/StorableText.ts"

describe("toStorableText", () => {
  it.each<[string, string, number?]>([
    ["plain \u{1F600}", "plain \u{1F600}"],
    ["a\u0000b\u0000", "ab"],
    ["\ud800a\udfff", "\ufffda\ufffd"],
    ["abc", "ab", 2],
    ["a\u{1F600}", "a\ufffd", 2],
    ["\u0000abc", "abc", 3],
    ["", ""]
  ])("turns %j into text that PostgreSQL can store", (text, stored, max) => {
    assert.strictEqual(toStorableText(text, max), stored)
    assert.isTrue(isStorable(stored))
  })
})
