import { assert, describe, it } from "vitest"
import { ExpiringCache } from "../../../../src/layers/infra/auth/ExpiringCache.ts"

describe("ExpiringCache", () => {
  const now = 1_800_000_000_000

  it("keeps a value until it expires", () => {
    const cache = new ExpiringCache<string>(3)
    cache.set("key", "value", now + 10_000)
    assert.strictEqual(cache.get("key", now + 9_999), "value")
    assert.isUndefined(cache.get("key", now + 10_000))
    assert.isUndefined(cache.get("key", now), "an expired value is removed")
  })

  it("evicts the oldest value when it is full", () => {
    const cache = new ExpiringCache<number>(3)
    for (let n = 0; n <= 3; n++) cache.set(`${n}`, n, now + 1)
    assert.deepStrictEqual(
      ["0", "1", "3"].map((key) => cache.get(key, now)),
      [undefined, 1, 3]
    )
  })

  it("counts a value that is set again as new, and as one", () => {
    const cache = new ExpiringCache<number>(2)
    for (const key of ["a", "b", "a", "c"]) cache.set(key, 1, now + 1)
    assert.deepStrictEqual(
      ["a", "b", "c"].map((key) => cache.get(key, now)),
      [1, undefined, 1]
    )
  })

  it("forgets a value that is deleted", () => {
    const cache = new ExpiringCache<number>(2)
    cache.set("key", 1, now + 1)
    cache.delete("key")
    assert.isUndefined(cache.get("key", now))
  })
})
