import { assert, describe, it } from "vitest"
import {
  initialLimit,
  maxInFlight,
  maxInFlightPerTenant,
  maxInFlightUnproven,
  poolSlots,
  type SendPool,
  sendPools,
  slowAfterMs
} from "../../../src/domain/delivery/SendLimits.ts"
import { TenantId } from "../../../src/domain/tenancy/Tenant.ts"
import type { ClaimedDelivery } from "../../../src/layers/delivery/Claims.ts"
import { makeSendSlots, type SendSlot, type SendSlots } from "../../../src/workers/delivery/SendSlots.ts"

const makeClaimedDelivery = (tenant: string, integration: string, pool: SendPool): ClaimedDelivery => ({
  tenant: TenantId.make(tenant),
  integration,
  id: "dlv_1",
  lease: "lease_1",
  attempts: 0,
  spent: 0,
  wasLost: false,
  provider: "WEBHOOK",
  config: {},
  secrets: null,
  recipient: null,
  unconfirmedSince: null,
  resource: "clnt_1",
  event: "evt_1",
  type: "client.created",
  timestamp: "2026-01-01T00:00:00.000Z",
  client: null,
  sequence: 1,
  createdBy: null,
  traceParent: null,
  data: "{}",
  sendLimit: initialLimit[pool]
})

/** Acquires every slot of a pool that a tenant with unlimited integrations can have now. */
const acquireAll = (slots: SendSlots, tenant: string, pool: SendPool, now: number): ReadonlyArray<SendSlot> => {
  const { max, maxPerTenant, allowanceByTenant } = slots.claimLimitsFor(pool, now)
  const allowed = Math.min(max, allowanceByTenant[tenant] ?? maxPerTenant)
  return Array.from({ length: allowed }, (_, n) =>
    slots.acquire(makeClaimedDelivery(tenant, `int_${tenant}_${now}_${n}`, pool), now)
  )
}
const usageOf = (slots: SendSlots) => Object.fromEntries(slots.usage())

describe("Send slots", () => {
  it("reserve slots for proven receivers against slow and new receivers of any number of tenants", () => {
    const slots = makeSendSlots()
    let now = 0
    for (; now < 30_000; now += 1000) {
      for (let tenant = 0; tenant < 40; tenant++) {
        acquireAll(slots, `tnt_${tenant}`, "NEW", now)
        acquireAll(slots, `tnt_${tenant}`, "SLOW", now)
      }
    }
    assert.isAtMost(slots.size(), maxInFlightUnproven)
    assert.lengthOf(acquireAll(slots, "tnt_victim", "PROVEN", now), poolSlots.PROVEN / 2)
  })

  it("are never all taken by one tenant, however many of its receivers turn slow", () => {
    const slots = makeSendSlots()
    for (let now = 0; now < 60_000; now += 500) for (const pool of sendPools) acquireAll(slots, "tnt_a", pool, now)
    assert.isAtMost(slots.size(), maxInFlightPerTenant)
    assert.isAbove(acquireAll(slots, "tnt_b", "PROVEN", 60_000).length, maxInFlightPerTenant / 2)
  })

  it("are freed by receivers that turn slow, up to the maximum in flight", () => {
    const slots = makeSendSlots()
    const acquireForFourTenants = (now: number) => {
      for (let tenant = 0; tenant < 4; tenant++) acquireAll(slots, `tnt_${now}t${tenant}`, "PROVEN", now)
    }
    acquireForFourTenants(0)
    const acquired = acquireAll(slots, "tnt_victim", "PROVEN", 0).length
    assert.isBelow(acquired, 10)
    const later = slowAfterMs.WEBHOOK
    const freed = slots.claimLimitsFor("PROVEN", later)
    assert.strictEqual(usageOf(slots)["PROVEN"], 0)
    assert.strictEqual(freed.max, 100)
    for (let now = later; now < 20 * later; now += later) {
      acquireForFourTenants(now)
      assert.isAtMost(slots.size(), maxInFlight)
      assert.isAtMost(usageOf(slots)["PROVEN"] ?? 0, poolSlots.PROVEN)
    }
  })

  it("stay in use until the result is recorded, without slowing down a receiver that has responded", () => {
    const slots = makeSendSlots()
    const slot = slots.acquire(makeClaimedDelivery("tnt_a", "int_a", "NEW"), 0)
    slots.recordResponse(slot, true, 10)
    slots.claimLimitsFor("NEW", 60_000)
    assert.deepStrictEqual([slots.size(), slots.poolOf(slot)], [1, "PROVEN"])
    slots.release(slot)
    assert.strictEqual(slots.size(), 0)
  })

  it("count an attempt as slow once, in flight or finished", () => {
    const slots = makeSendSlots()
    const slot = slots.acquire(makeClaimedDelivery("tnt_a", "int_a", "PROVEN"), 0)
    slots.claimLimitsFor("PROVEN", slowAfterMs.WEBHOOK)
    slots.claimLimitsFor("PROVEN", slowAfterMs.WEBHOOK + 500)
    slots.recordResponse(slot, true, 14_000)
    assert.strictEqual(slots.poolOf(slot), "NEW")
  })

  it("remember a bounded number of receivers with a raised limit", () => {
    const slots = makeSendSlots()
    for (let n = 0; n < 3000; n++) {
      const burst = Array.from({ length: 8 }, () =>
        slots.acquire(makeClaimedDelivery("tnt_a", `int_${n}`, "PROVEN"), n)
      )
      for (const slot of burst) slots.recordResponse(slot, true, n)
      for (const slot of burst) slots.release(slot)
    }
    const { sendLimitByIntegration } = slots.claimLimitsFor("PROVEN", 3000)
    assert.isAbove(sendLimitByIntegration["int_2999"] ?? 0, initialLimit.PROVEN)
    assert.isAtMost(Object.keys(sendLimitByIntegration).length, 512)
  })
})
