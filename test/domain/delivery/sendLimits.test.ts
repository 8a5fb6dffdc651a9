import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import {
  decreaseSendLimit,
  increaseSendLimit,
  initialLimit,
  makeSendLimit,
  maxInFlight,
  maxInFlightPerIntegration,
  maxInFlightPerTenant,
  poolOf,
  poolSlots,
  type SendLimit,
  sendPools,
  tenantAllowance
} from "../../../src/domain/delivery/SendLimits.ts"

const answers = fc.array(fc.boolean(), { maxLength: 300 })

/** A receiver whose limit is always used fully, at one answer a millisecond. */
const adapt = (isQuick: ReadonlyArray<boolean>, from = makeSendLimit(initialLimit.NEW)) =>
  isQuick.reduce<SendLimit>(
    (state, quick, now) =>
      quick ? increaseSendLimit(state, Math.floor(state.limit)) : decreaseSendLimit(state, now, now),
    from
  )
const quickly = (count: number) => Array.from({ length: count }, () => true)
const slowly = (count: number) => Array.from({ length: count }, () => false)

describe("the concurrency limit of an integration", () => {
  it("stays between one and the most there may be, whatever is answered", () => {
    fc.assert(
      fc.property(answers, (isQuick) => {
        const { limit, threshold } = adapt(isQuick)
        assert.isAtLeast(limit, 1)
        assert.isAtMost(limit, maxInFlightPerIntegration)
        assert.isAtMost(threshold, maxInFlightPerIntegration)
      })
    )
  })

  it("proves a new receiver by its first quick answer, and doubles from one round of answers to the next", () => {
    assert.strictEqual(poolOf(makeSendLimit(initialLimit.NEW)), "NEW")
    assert.strictEqual(poolOf(adapt(quickly(1))), "PROVEN")
    let state = adapt(quickly(1))
    for (let round = 1; state.limit < maxInFlightPerIntegration; round++) {
      const before = state.limit
      state = adapt(quickly(before), state)
      assert.strictEqual(state.limit, Math.min(before * 2, maxInFlightPerIntegration), `round ${round}`)
    }
  })

  it("makes any receiver slow that answers slowly a few times in a row, and proves it again by a few quick answers", () => {
    fc.assert(
      fc.property(answers, (isQuick) => {
        const slow = adapt(slowly(7), adapt(isQuick))
        assert.strictEqual(poolOf(slow), "SLOW")
        assert.strictEqual(Math.floor(slow.limit), initialLimit.SLOW)
        assert.strictEqual(poolOf(adapt(quickly(2), slow)), "PROVEN")
      })
    )
  })

  it("falls for all that were in flight together, but lowers the threshold once", () => {
    const wide = adapt(quickly(200))
    const stalled = slowly(64).reduce<SendLimit>((state) => decreaseSendLimit(state, 10, 20), wide)
    assert.strictEqual(stalled.limit, 1)
    assert.strictEqual(stalled.threshold, maxInFlightPerIntegration / 2)
  })

  it("grows back less quickly each time a receiver turns slow again", () => {
    let state = adapt(quickly(200))
    const widths: Array<number> = []
    for (let wave = 1; wave <= 4; wave++) {
      state = slowly(64).reduce<SendLimit>((before) => decreaseSendLimit(before, wave * 100, wave * 100 + 10), state)
      state = adapt(quickly(100), state)
      widths.push(Math.floor(state.limit))
    }
    assert.isBelow(widths[0] ?? 0, maxInFlightPerIntegration)
    assert.deepStrictEqual(
      widths,
      widths.toSorted((a, b) => b - a)
    )
    assert.isBelow(widths.at(-1) ?? 0, maxInFlightPerIntegration / 2)
  })

  it("does not grow while it is not used", () => {
    const proven = adapt(quickly(1))
    assert.deepStrictEqual(
      quickly(100).reduce<SendLimit>((state) => increaseSendLimit(state, 1), proven),
      proven
    )
  })
})

describe("the slots a tenant may take", () => {
  const tenants = fc.array(fc.record({ tenant: fc.nat(40), pool: fc.constantFrom(...sendPools) }), { maxLength: 300 })

  it("are never more than there are, nor more than a tenant's share, and something is left for whoever has none", () => {
    fc.assert(
      fc.property(tenants, (claims) => {
        const used = new Map<string, number>()
        const usedBy = (...keys: ReadonlyArray<string | number>) => used.get(keys.join()) ?? 0
        const free = () => maxInFlight - usedBy("all")
        for (const { pool, tenant } of claims) {
          const poolFree = poolSlots[pool] - usedBy("pool", pool)
          const usage = { poolFree, totalFree: free() }
          const allowed = tenantAllowance({
            ...usage,
            poolUsed: usedBy(pool, tenant),
            totalUsed: usedBy("tenant", tenant)
          })
          const newcomer = tenantAllowance({ ...usage, poolUsed: 0, totalUsed: 0 })
          assert.isAtMost(allowed, newcomer)
          assert.strictEqual(newcomer > 0, poolFree > 0)
          if (usedBy(pool, tenant) > 0) assert.isBelow(allowed, Math.max(1, poolFree), "the last slot is a newcomer's")
          for (const key of [["all"], ["pool", pool], [pool, tenant], ["tenant", tenant]])
            used.set(key.join(), usedBy(...key) + allowed)
          assert.isAtMost(usedBy("pool", pool), poolSlots[pool])
          assert.isAtMost(usedBy("tenant", tenant), maxInFlightPerTenant)
        }
      })
    )
  })

  it("are half of a pool for a tenant alone", () => {
    const usage = { poolFree: poolSlots.PROVEN, totalFree: maxInFlight, poolUsed: 0, totalUsed: 0 }
    assert.strictEqual(tenantAllowance(usage), poolSlots.PROVEN / 2)
    assert.isAtLeast(poolSlots.PROVEN / 2, maxInFlightPerIntegration)
  })
})
