import { assert, describe, it } from "vitest"
import { maxCacheAgeMs, maxCachedTokens, TokenCache } from "../../../src/layers/auth/TokenVerifier.ts"

describe("TokenCache", () => {
  const alice = { issuer: "issuer", subject: "alice" }
  const now = 1_800_000_000_000

  it("keeps a token for maxCacheAgeMs", () => {
    const cache = new TokenCache()
    cache.set("digest", alice, now + 3_600_000, now)
    assert.deepStrictEqual(cache.get("digest", now + maxCacheAgeMs - 1), alice)
    assert.isUndefined(cache.get("digest", now + maxCacheAgeMs))
    assert.isUndefined(cache.get("digest", now), "an expired entry is removed")
  })

  it("drops a token when the token expires", () => {
    const cache = new TokenCache()
    cache.set("digest", alice, now + 10_000, now)
    assert.deepStrictEqual(cache.get("digest", now + 9_999), alice)
    assert.isUndefined(cache.get("digest", now + 10_000))
  })

  it("evicts the oldest token when it is full", () => {
    const cache = new TokenCache()
    for (let n = 0; n <= maxCachedTokens; n++) cache.set(`digest ${n}`, alice, now + 3_600_000, now)
    assert.isUndefined(cache.get("digest 0", now))
    assert.deepStrictEqual(cache.get("digest 1", now), alice)
    assert.deepStrictEqual(cache.get(`digest ${maxCachedTokens}`, now), alice)
  })
})
