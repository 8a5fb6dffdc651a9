import { assert, describe, it } from "vitest"
import { makeId, makeIdSuffix } from "../../../src/layers/postgres/IdGenerator.ts"

describe("identifiers", () => {
  it("are a prefix and 26 lowercase base-32 characters", () => {
    assert.match(makeId("clnt"), /^clnt_[0-9a-hjkmnp-tv-z]{26}$/)
  })

  it("sort in the order they were made, within a millisecond and when the clock steps back", () => {
    const now = Date.now() + 60_000
    const made = [now, now, now, now - 5_000, now, now + 1, now + 1, now - 1].map((time) => makeIdSuffix(time))
    assert.deepStrictEqual([...made].sort(), made)
  })

  it("do not repeat", () => {
    const time = Date.now() + 120_000
    assert.strictEqual(new Set(Array.from({ length: 100_000 }, () => makeIdSuffix(time))).size, 100_000)
  })
})
