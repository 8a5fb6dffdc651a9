import { assert, describe, it } from "vitest"
import {
  initialLimit,
  maxInFlight,
  maxPerTenant,
  maxUnproven,
  type Pool,
  poolSlots,
  pools,
  slowAfterMs
} from "../../../src/domain/delivery/SendLimits.ts"
import { TenantId } from "../../../src/domain/tenancy/Tenant.ts"
import type { Claimed } from "../../../src/layers/delivery/Claims.ts"
import { makeSlots, type Slot, type Slots } from "../../../src/workers/delivery/Slots.ts"

const claimedFor = (tenant: string, integration: string, pool: Pool): Claimed => ({
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
  event: "evt_1",
  type: "client.created",
  timestamp: "2026-01-01T00:00:00.000Z",
  client: null,
  sequence: 1,
  data: "{}",
  sendLimit: initialLimit[pool]
})

/** Takes all that a tenant with endless integrations of a pool may have now. */
const takeAll = (slots: Slots, tenant: string, pool: Pool, now: number): ReadonlyArray<Slot> => {
  const { max, maxPerTenant, tenants } = slots.limitsFor(pool, now)
  const allowed = Math.min(max, tenants[tenant] ?? maxPerTenant)
  return Array.from({ length: allowed }, (_, n) =>
    slots.take(claimedFor(tenant, `int_${tenant}_${now}_${n}`, pool), now)
  )
}
const used = (slots: Slots) => Object.fromEntries(slots.usage())

describe("the sending slots", () => {
  it("leave proven receivers their own when slow and new ones of any number of tenants take what they get", () => {
    const slots = makeSlots()
    let now = 0
    for (; now < 30_000; now += 1000) {
      for (let tenant = 0; tenant < 40; tenant++) {
        takeAll(slots, `tnt_${tenant}`, "NEW", now)
        takeAll(slots, `tnt_${tenant}`, "SLOW", now)
      }
    }
    assert.isAtMost(slots.size(), maxUnproven)
    assert.lengthOf(takeAll(slots, "tnt_victim", "PROVEN", now), poolSlots.PROVEN / 2)
  })

  it("are never all a tenant's, however many of its receivers turn slow", () => {
    const slots = makeSlots()
    for (let now = 0; now < 60_000; now += 500) for (const pool of pools) takeAll(slots, "tnt_a", pool, now)
    assert.isAtMost(slots.size(), maxPerTenant)
    assert.isAbove(takeAll(slots, "tnt_b", "PROVEN", 60_000).length, maxPerTenant / 2)
  })

  it("are freed for others by receivers that turn slow, up to the most there may be", () => {
    const slots = makeSlots()
    const attack = (now: number) => {
      for (let tenant = 0; tenant < 4; tenant++) takeAll(slots, `tnt_${now}t${tenant}`, "PROVEN", now)
    }
    attack(0)
    const crowded = takeAll(slots, "tnt_victim", "PROVEN", 0).length
    assert.isBelow(crowded, 10)
    const later = slowAfterMs.WEBHOOK
    const freed = slots.limitsFor("PROVEN", later)
    assert.strictEqual(used(slots)["PROVEN"], 0)
    assert.strictEqual(freed.max, 100)
    for (let now = later; now < 20 * later; now += later) {
      attack(now)
      assert.isAtMost(slots.size(), maxInFlight)
      assert.isAtMost(used(slots)["PROVEN"] ?? 0, poolSlots.PROVEN)
    }
  })

  it("stay in use until the outcome is recorded, without slowing down a receiver that has answered", () => {
    const slots = makeSlots()
    const slot = slots.take(claimedFor("tnt_a", "int_a", "NEW"), 0)
    slots.answered(slot, true, 10)
    slots.limitsFor("NEW", 60_000)
    assert.deepStrictEqual([slots.size(), slots.poolOf(slot)], [1, "PROVEN"])
    slots.release(slot)
    assert.strictEqual(slots.size(), 0)
  })

  it("count an attempt as slow once, whether it is in flight or answered", () => {
    const slots = makeSlots()
    const slot = slots.take(claimedFor("tnt_a", "int_a", "PROVEN"), 0)
    slots.limitsFor("PROVEN", slowAfterMs.WEBHOOK)
    slots.limitsFor("PROVEN", slowAfterMs.WEBHOOK + 500)
    slots.answered(slot, true, 14_000)
    assert.strictEqual(slots.poolOf(slot), "NEW")
  })

  it("remember a bounded number of receivers that have grown", () => {
    const slots = makeSlots()
    for (let n = 0; n < 3000; n++) {
      const burst = Array.from({ length: 8 }, () => slots.take(claimedFor("tnt_a", `int_${n}`, "PROVEN"), n))
      for (const slot of burst) slots.answered(slot, true, n)
      for (const slot of burst) slots.release(slot)
    }
    const { receivers } = slots.limitsFor("PROVEN", 3000)
    assert.isAbove(receivers["int_2999"] ?? 0, initialLimit.PROVEN)
    assert.isAtMost(Object.keys(receivers).length, 512)
  })
})
