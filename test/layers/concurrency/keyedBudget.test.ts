import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { KeyedBudget } from "../../../src/layers/concurrency/KeyedBudget.ts"

const tryTake = (budget: KeyedBudget, keys: ReadonlyArray<string>, amount: number) => {
  const refused = budget.rejectionFor(keys, amount)
  if (refused === undefined) budget.acquire(keys, amount)
  return refused?.scope ?? "taken"
}

describe("a keyed budget", () => {
  const keys = ["a", "b", "c", "d"]

  it("never lends more than it has to one key or to all, and has all of it again in the end", () => {
    const wish = fc.tuple(fc.subarray(keys, { minLength: 1 }), fc.nat(60))
    fc.assert(
      fc.property(fc.array(wish, { maxLength: 60 }), (wishes) => {
        const budget = new KeyedBudget({ maxPerKey: 100, max: 180 })
        const taken = wishes.filter(([keys, amount]) => tryTake(budget, keys, amount) === "taken")
        const sumOf = (some: typeof taken) => some.reduce((sum, [, amount]) => sum + amount, 0)
        assert.isAtMost(sumOf(taken), 180)
        for (const key of keys) assert.isAtMost(sumOf(taken.filter(([of]) => of.includes(key))), 100)
        for (const [keys, amount] of taken) budget.release(keys, amount)
        assert.strictEqual(tryTake(budget, ["a"], 90), "taken")
        assert.strictEqual(tryTake(budget, ["b"], 90), "taken")
        assert.strictEqual(tryTake(budget, ["c"], 1), "all")
      })
    )
  })

  it("leaves something to the next key however greedy the keys before it are", () => {
    const budget = new KeyedBudget({ maxPerKey: 64, max: 256 })
    for (const key of ["a", "b", "c", "d", "e"]) {
      while (tryTake(budget, [key], 1) === "taken");
      assert.strictEqual(budget.rejectionFor([key], 1)?.scope, "key")
      assert.isUndefined(budget.rejectionFor(["next"], 4), `after ${key}`)
    }
  })

  it("charges each of the keys, so that many callers of one tenant get no more than one", () => {
    const budget = new KeyedBudget({ maxPerKey: 3, max: 100 })
    for (const caller of ["one", "two", "three"]) {
      assert.strictEqual(tryTake(budget, [caller, "tenant"], 1), "taken")
    }
    assert.strictEqual(tryTake(budget, ["four", "tenant"], 1), "key")
    assert.strictEqual(tryTake(budget, ["four", "other tenant"], 1), "taken")
  })

  it("tells a key that asks for more than any key may have from a budget that others use up", () => {
    const budget = new KeyedBudget({ maxPerKey: 4, max: 4 })
    assert.strictEqual(tryTake(budget, ["a"], 5), "key")
    budget.acquire(["a"], 4)
    assert.strictEqual(tryTake(budget, ["b"], 1), "all")
  })
})
