import { assert, describe, it } from "vitest"
import { rotate } from "../../bench/support/alternation.ts"
import { computeRatio, formatRatio } from "../../bench/support/ratio.ts"

describe("ratioOf", () => {
  it("returns the median of the ratios, not the ratio of the medians", () => {
    // Always twice as fast as the other, on a machine that is ten times slower in one round.
    assert.deepStrictEqual(computeRatio([200, 20, 100, 400], [100, 10, 50, 200]), {
      median: 2,
      lowerQuartile: 2,
      upperQuartile: 2
    })
    assert.strictEqual(computeRatio([1, 2, 9], [1, 1, 1]).median, 2)
  })

  it("returns the interquartile range, which toldRatio omits when it has no width", () => {
    const ones = [8, 1, 7, 2, 6, 3, 5, 4]
    const ratio = computeRatio(
      ones,
      ones.map(() => 1)
    )
    assert.deepStrictEqual(ratio, { median: 4.5, lowerQuartile: 3, upperQuartile: 6 })
    assert.strictEqual(formatRatio(ratio), "4.50 (3.00–6.00)")
    assert.strictEqual(formatRatio(computeRatio([3], [2])), "1.50")
  })
})

describe("rotated", () => {
  it("puts each server first and lets each follow every other", () => {
    const orders = Array.from({ length: 6 }, (_, round) => rotate(["a", "b", "c"], round))
    const pairs = new Set(orders.flatMap(([x, y, z]) => [`${x}${y}`, `${y}${z}`]))
    assert.deepStrictEqual([...new Set(orders.map(([x]) => x))].sort(), ["a", "b", "c"])
    assert.deepStrictEqual([...pairs].sort(), ["ab", "ac", "ba", "bc", "ca", "cb"])
  })
})
