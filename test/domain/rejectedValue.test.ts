import { assert, describe, it } from "vitest"
import { butIs, describeValue, shorten } from "../../src/domain/RejectedValue.ts"

describe("describeValue", () => {
  it.each<[value: unknown, text: string]>([
    ["red", `"red"`],
    ["", `""`],
    ['a"b\n\u0000', `"a\\"b\\n\\u0000"`],
    [-1.5, "-1.5"],
    [true, "true"],
    [null, "null"],
    [undefined, "missing"],
    [["secret"], "an array"],
    [{ password: "secret" }, "an object"]
  ])("shows %j as %s", (value, text) => {
    assert.strictEqual(describeValue(value), text)
  })
})

describe("shorten", () => {
  it("shows at most 40 characters of a text, and no half of a surrogate pair", () => {
    for (const letter of ["a", "\u{1F600}"]) {
      assert.strictEqual(shorten(letter.repeat(40)), letter.repeat(40))
      assert.strictEqual(shorten(letter.repeat(41)), `${letter.repeat(40)}…`)
      assert.strictEqual(shorten(letter.repeat(1_000_000)), `${letter.repeat(40)}…`)
    }
  })
})

describe("butIs", () => {
  it("appends the value to the requirement", () => {
    assert.strictEqual(butIs("must be at least 0")(-1), "must be at least 0, but is -1")
  })
})
