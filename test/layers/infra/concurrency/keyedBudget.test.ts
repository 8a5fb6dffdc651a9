import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { KeyedBudget } from "../../../../src/layers/infra/concurrency/KeyedBudget.ts"

const tryAcquire = (budget: KeyedBudget, keys: ReadonlyArray<string>, amount: number) => {
  const rejection = budget.rejectionFor(keys, amount)
  if (rejection === undefined) budget.acquire(keys, amount)
  return rejection?.scope ?? "acquired"
}

describe("KeyedBudget", () => {
  const keys = ["a", "b", "c", "d"]

  it("never exceeds its maximum per key or in total and is whole after all releases", () => {
    const request = fc.tuple(fc.subarray(keys, { minLength: 1 }), fc.nat(60))
    fc.assert(
      fc.property(fc.array(request, { maxLength: 60 }), (requests) => {
        const budget = new KeyedBudget({ maxPerKey: 100, max: 180 })
        const acquired = requests.filter(([keys, amount]) => tryAcquire(budget, keys, amount) === "acquired")
        const sumOf = (some: typeof acquired) => some.reduce((sum, [, amount]) => sum + amount, 0)
        assert.isAtMost(sumOf(acquired), 180)
        for (const key of keys) assert.isAtMost(sumOf(acquired.filter(([of]) => of.includes(key))), 100)
        for (const [keys, amount] of acquired) budget.release(keys, amount)
        assert.strictEqual(tryAcquire(budget, ["a"], 90), "acquired")
        assert.strictEqual(tryAcquire(budget, ["b"], 90), "acquired")
        assert.strictEqual(tryAcquire(budget, ["c"], 1), "all")
      })
    )
  })

  it("leaves a share to the next key when earlier keys take their maximum", () => {
    const budget = new KeyedBudget({ maxPerKey: 64, max: 256 })
    for (const key of ["a", "b", "c", "d", "e"]) {
      while (tryAcquire(budget, [key], 1) === "acquired");
      assert.strictEqual(budget.rejectionFor([key], 1)?.scope, "key")
      assert.isUndefined(budget.rejectionFor(["next"], 4), `after ${key}`)
    }
  })

  it("charges every key, so that many callers of one tenant share its maximum", () => {
    const budget = new KeyedBudget({ maxPerKey: 3, max: 100 })
    for (const caller of ["one", "two", "three"]) {
      assert.strictEqual(tryAcquire(budget, [caller, "tenant"], 1), "acquired")
    }
    assert.strictEqual(tryAcquire(budget, ["four", "tenant"], 1), "key")
    assert.strictEqual(tryAcquire(budget, ["four", "other tenant"], 1), "acquired")
  })

  it("distinguishes a rejection by the key maximum from one by the total", () => {
    const budget = new KeyedBudget({ maxPerKey: 4, max: 4 })
    assert.strictEqual(tryAcquire(budget, ["a"], 5), "key")
    budget.acquire(["a"], 4)
    assert.strictEqual(tryAcquire(budget, ["b"], 1), "all")
  })
})
