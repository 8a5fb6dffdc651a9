import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { ByteBudget } from "../../../src/http/edge/request/ByteBudget.ts"
import { RateLimit } from "../../../src/http/edge/request/RateLimit.ts"

describe("a rate limit", () => {
  it("allows its quota to each key in each minute and no more", () => {
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

describe("a byte budget", () => {
  it("never lends more than it has to one key or to all, and has all of it again in the end", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom("a", "b", "c"), fc.nat(60)), { maxLength: 60 }), (wishes) => {
        const budget = new ByteBudget({ maxPerKey: 100, max: 180 })
        const taken = wishes.filter(([key, bytes]) => budget.tryTake(key, bytes))
        const sumOf = (some: typeof taken) => some.reduce((sum, [, bytes]) => sum + bytes, 0)
        assert.isAtMost(sumOf(taken), 180)
        for (const key of ["a", "b", "c"]) assert.isAtMost(sumOf(taken.filter(([name]) => name === key)), 100)
        for (const [key, bytes] of taken) budget.giveBack(key, bytes)
        assert.isTrue(budget.tryTake("a", 100))
        assert.isTrue(budget.tryTake("b", 80))
        assert.isFalse(budget.tryTake("c", 1))
      })
    )
  })
})
