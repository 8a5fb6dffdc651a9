import { assert, describe, it } from "vitest"
import { rotated } from "../../bench/running/inTurns.ts"
import { ratioOf, toldRatio } from "../../bench/running/ratio.ts"

describe("ratioOf", () => {
  it("returns the median of the ratios, not the ratio of the medians", () => {
    // Always twice as fast as the other, on a machine that is ten times slower in one round.
    assert.deepStrictEqual(ratioOf([200, 20, 100, 400], [100, 10, 50, 200]), { middle: 2, from: 2, to: 2 })
    assert.strictEqual(ratioOf([1, 2, 9], [1, 1, 1]).middle, 2)
  })

  it("returns the interquartile range, which toldRatio omits when it has no width", () => {
    const ones = [8, 1, 7, 2, 6, 3, 5, 4]
    const ratio = ratioOf(
      ones,
      ones.map(() => 1)
    )
    assert.deepStrictEqual(ratio, { middle: 4.5, from: 3, to: 6 })
    assert.strictEqual(toldRatio(ratio), "4.50 (3.00–6.00)")
    assert.strictEqual(toldRatio(ratioOf([3], [2])), "1.50")
  })
})

describe("rotated", () => {
  it("puts each server first and lets each follow every other", () => {
    const orders = Array.from({ length: 6 }, (_, round) => rotated(["a", "b", "c"], round))
    const pairs = new Set(orders.flatMap(([x, y, z]) => [`${x}${y}`, `${y}${z}`]))
    assert.deepStrictEqual([...new Set(orders.map(([x]) => x))].sort(), ["a", "b", "c"])
    assert.deepStrictEqual([...pairs].sort(), ["ab", "ac", "ba", "bc", "ca", "cb"])
  })
})
