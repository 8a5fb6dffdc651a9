import { assert, describe, it } from "vitest"
import { makeId, makeIdSuffix } from "../../../../src/layers/infra/postgres/IdGenerator.ts"

describe("makeId", () => {
  it("returns a prefix and 26 lowercase base-32 characters", () => {
    assert.match(makeId("clnt"), /^clnt_[0-9a-hjkmnp-tv-z]{26}$/)
  })

  it("returns ids that sort in the order of creation, within a millisecond and after the clock steps back", () => {
    const now = Date.now() + 60_000
    const ids = [now, now, now, now - 5_000, now, now + 1, now + 1, now - 1].map((time) => makeIdSuffix(time))
    assert.deepStrictEqual([...ids].sort(), ids)
  })

  it("returns 100,000 unique ids in one millisecond", () => {
    const time = Date.now() + 120_000
    assert.strictEqual(new Set(Array.from({ length: 100_000 }, () => makeIdSuffix(time))).size, 100_000)
  })
})
