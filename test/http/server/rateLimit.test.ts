import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { RateLimit } from "../../../src/http/server/request/RateLimit.ts"

describe("RateLimit", () => {
  it("allows each key its quota per minute and rejects the rest", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.record({ key: fc.constantFrom("a", "b"), after: fc.nat(20_000) }), { maxLength: 80 }),
        (quota, requests) => {
          const limit = new RateLimit("caller", quota)
          const allowed = new Map<string, number>()
          let now = 1_700_000_000_000
          for (const { after, key } of requests) {
            now += after
            const { isAllowed, remaining, resetSeconds } = limit.take(key, now)
            const minute = `${key} ${Math.floor(now / 60_000)}`
            const count = (allowed.get(minute) ?? 0) + 1
            allowed.set(minute, count)
            assert.strictEqual(isAllowed, count <= quota)
            assert.strictEqual(remaining, Math.max(0, quota - count))
            assert.strictEqual(resetSeconds, Math.ceil((60_000 - (now % 60_000)) / 1000))
          }
        }
      )
    )
  })
})
