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

const responses = fc.array(fc.boolean(), { maxLength: 300 })

/** The limit of a receiver that uses it fully, after one response per millisecond. */
const adapt = (isFast: ReadonlyArray<boolean>, from = makeSendLimit(initialLimit.NEW)) =>
  isFast.reduce<SendLimit>(
    (state, fast, now) =>
      fast ? increaseSendLimit(state, Math.floor(state.limit)) : decreaseSendLimit(state, now, now),
    from
  )
const fastResponses = (count: number) => Array.from({ length: count }, () => true)
const slowResponses = (count: number) => Array.from({ length: count }, () => false)

describe("The concurrency limit of an integration", () => {
  it("stays between one and its maximum for any responses", () => {
    fc.assert(
      fc.property(responses, (isFast) => {
        const { limit, threshold } = adapt(isFast)
        assert.isAtLeast(limit, 1)
        assert.isAtMost(limit, maxInFlightPerIntegration)
        assert.isAtMost(threshold, maxInFlightPerIntegration)
      })
    )
  })

  it("makes a new receiver PROVEN at its first fast response and doubles with each round of responses", () => {
    assert.strictEqual(poolOf(makeSendLimit(initialLimit.NEW)), "NEW")
    assert.strictEqual(poolOf(adapt(fastResponses(1))), "PROVEN")
    let state = adapt(fastResponses(1))
    for (let round = 1; state.limit < maxInFlightPerIntegration; round++) {
      const before = state.limit
      state = adapt(fastResponses(before), state)
      assert.strictEqual(state.limit, Math.min(before * 2, maxInFlightPerIntegration), `round ${round}`)
    }
  })

  it("makes any receiver SLOW after seven slow responses in a row and PROVEN again after two fast ones", () => {
    fc.assert(
      fc.property(responses, (isFast) => {
        const slow = adapt(slowResponses(7), adapt(isFast))
        assert.strictEqual(poolOf(slow), "SLOW")
        assert.strictEqual(Math.floor(slow.limit), initialLimit.SLOW)
        assert.strictEqual(poolOf(adapt(fastResponses(2), slow)), "PROVEN")
      })
    )
  })

  it("falls to one when all deliveries in flight are slow, but lowers the threshold once", () => {
    const grown = adapt(fastResponses(200))
    const stalled = slowResponses(64).reduce<SendLimit>((state) => decreaseSendLimit(state, 10, 20), grown)
    assert.strictEqual(stalled.limit, 1)
    assert.strictEqual(stalled.threshold, maxInFlightPerIntegration / 2)
  })

  it("grows back less each time a receiver turns slow again", () => {
    let state = adapt(fastResponses(200))
    const limits: Array<number> = []
    for (let wave = 1; wave <= 4; wave++) {
      state = slowResponses(64).reduce<SendLimit>(
        (before) => decreaseSendLimit(before, wave * 100, wave * 100 + 10),
        state
      )
      state = adapt(fastResponses(100), state)
      limits.push(Math.floor(state.limit))
    }
    assert.isBelow(limits[0] ?? 0, maxInFlightPerIntegration)
    assert.deepStrictEqual(
      limits,
      limits.toSorted((a, b) => b - a)
    )
    assert.isBelow(limits.at(-1) ?? 0, maxInFlightPerIntegration / 2)
  })

  it("does not grow while it is not fully used", () => {
    const proven = adapt(fastResponses(1))
    assert.deepStrictEqual(
      fastResponses(100).reduce<SendLimit>((state) => increaseSendLimit(state, 1), proven),
      proven
    )
  })
})

describe("tenantAllowance", () => {
  const tenants = fc.array(fc.record({ tenant: fc.nat(40), pool: fc.constantFrom(...sendPools) }), { maxLength: 300 })

  it("stays within the pool and the tenant's maximum, and leaves a slot for a tenant that has none", () => {
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
          if (usedBy(pool, tenant) > 0)
            assert.isBelow(allowed, Math.max(1, poolFree), "the last slot is left for another tenant")
          for (const key of [["all"], ["pool", pool], [pool, tenant], ["tenant", tenant]])
            used.set(key.join(), usedBy(...key) + allowed)
          assert.isAtMost(usedBy("pool", pool), poolSlots[pool])
          assert.isAtMost(usedBy("tenant", tenant), maxInFlightPerTenant)
        }
      })
    )
  })

  it("gives half of a pool to the only tenant", () => {
    const usage = { poolFree: poolSlots.PROVEN, totalFree: maxInFlight, poolUsed: 0, totalUsed: 0 }
    assert.strictEqual(tenantAllowance(usage), poolSlots.PROVEN / 2)
    assert.isAtLeast(poolSlots.PROVEN / 2, maxInFlightPerIntegration)
  })
})
