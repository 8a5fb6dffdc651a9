import { assert, describe, it } from "vitest"
import { longestMemory, mostRemembered, TokenMemory } from "../../../src/layers/auth/TokenMemory.ts"

describe("the memory of verified tokens", () => {
  const alice = { issuer: "issuer", subject: "alice" }
  const now = 1_800_000_000_000

  it("lasts a minute", () => {
    const memory = new TokenMemory()
    memory.keep("digest", alice, now + 3_600_000, now)
    assert.deepStrictEqual(memory.recall("digest", now + longestMemory - 1), alice)
    assert.isUndefined(memory.recall("digest", now + longestMemory))
    assert.isUndefined(memory.recall("digest", now), "what was forgotten stays so")
  })

  it("ends where the token ends", () => {
    const memory = new TokenMemory()
    memory.keep("digest", alice, now + 10_000, now)
    assert.deepStrictEqual(memory.recall("digest", now + 9_999), alice)
    assert.isUndefined(memory.recall("digest", now + 10_000))
  })

  it("forgets the oldest when it is full", () => {
    const memory = new TokenMemory()
    for (let n = 0; n <= mostRemembered; n++) memory.keep(`digest ${n}`, alice, now + 3_600_000, now)
    assert.isUndefined(memory.recall("digest 0", now))
    assert.deepStrictEqual(memory.recall("digest 1", now), alice)
    assert.deepStrictEqual(memory.recall(`digest ${mostRemembered}`, now), alice)
  })
})
