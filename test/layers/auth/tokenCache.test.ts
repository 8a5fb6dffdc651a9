import { assert, describe, it } from "vitest"
import { maxCacheAgeMs, maxCachedTokens, TokenCache } from "../../../src/layers/auth/TokenVerifier.ts"

describe("the memory of verified tokens", () => {
  const alice = { issuer: "issuer", subject: "alice" }
  const now = 1_800_000_000_000

  it("lasts a minute", () => {
    const memory = new TokenCache()
    memory.set("digest", alice, now + 3_600_000, now)
    assert.deepStrictEqual(memory.get("digest", now + maxCacheAgeMs - 1), alice)
    assert.isUndefined(memory.get("digest", now + maxCacheAgeMs))
    assert.isUndefined(memory.get("digest", now), "what was forgotten stays so")
  })

  it("ends where the token ends", () => {
    const memory = new TokenCache()
    memory.set("digest", alice, now + 10_000, now)
    assert.deepStrictEqual(memory.get("digest", now + 9_999), alice)
    assert.isUndefined(memory.get("digest", now + 10_000))
  })

  it("forgets the oldest when it is full", () => {
    const memory = new TokenCache()
    for (let n = 0; n <= maxCachedTokens; n++) memory.set(`digest ${n}`, alice, now + 3_600_000, now)
    assert.isUndefined(memory.get("digest 0", now))
    assert.deepStrictEqual(memory.get("digest 1", now), alice)
    assert.deepStrictEqual(memory.get(`digest ${maxCachedTokens}`, now), alice)
  })
})
