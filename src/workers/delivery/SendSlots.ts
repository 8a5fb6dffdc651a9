import {
  decreaseSendLimit,
  increaseSendLimit,
  initialLimit,
  makeSendLimit,
  maxInFlight,
  maxInFlightUnproven,
  poolOf,
  poolSlots,
  type SendLimit,
  type SendPool,
  sendPools,
  slowAfterMs,
  tenantAllowance
} from "../../domain/delivery/SendLimits.ts"
import type { ClaimedDelivery } from "../../layers/delivery/Claims.ts"
import type { ClaimLimits } from "../../layers/delivery/DeliveryQueues.ts"

interface Receiver {
  state: SendLimit
  inFlight: number
}

/** A slot is in use from the claim of a delivery until its outcome is recorded. */
export interface SendSlot {
  readonly tenant: string
  readonly integration: string
  readonly startedAt: number
  readonly slowAfterMs: number
  readonly receiver: Receiver
  hasResponse: boolean
  isSlow: boolean
}

/** Cached limits of receivers without attempts in flight. An evicted receiver starts again from its pool's limit. */
const maxIdleReceivers = 512
const maxClaimSize = 100

const increment = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1)

/** The sending slots of this process: their use by tenant and receiver, and the limits of the next claim. */
export const makeSendSlots = () => {
  const slots = new Set<SendSlot>()
  // In order of use: the first idle receiver is the least recently used.
  const receivers = new Map<string, Receiver>()

  const receiverOf = ({ integration, sendLimit }: ClaimedDelivery) => {
    const receiver = receivers.get(integration) ?? { state: makeSendLimit(sendLimit), inFlight: 0 }
    receivers.delete(integration)
    receivers.set(integration, receiver)
    return receiver
  }

  const evictIdle = () => {
    if (receivers.size <= maxIdleReceivers + slots.size) return
    for (const [integration, { inFlight }] of receivers) {
      if (inFlight === 0) return void receivers.delete(integration)
    }
  }

  const slowDown = (slot: SendSlot, now: number) => {
    slot.isSlow = true
    slot.receiver.state = decreaseSendLimit(slot.receiver.state, slot.startedAt, now)
  }

  /** An attempt in flight for too long counts as slow before its response arrives. */
  const markSlow = (now: number) => {
    for (const slot of slots) {
      if (!slot.hasResponse && !slot.isSlow && now - slot.startedAt >= slot.slowAfterMs) slowDown(slot, now)
    }
  }

  /** The limits that only this process knows: those of receivers in use, and those that have grown. */
  const receiverLimits = () =>
    Object.fromEntries(
      Array.from(receivers)
        .filter(([, { inFlight, state }]) => inFlight > 0 || state.limit > initialLimit.PROVEN)
        .map(([integration, { state }]) => [integration, Math.floor(state.limit)])
    )

  const usedIn = (pool: SendPool) => Array.from(slots).filter(({ receiver }) => poolOf(receiver.state) === pool)

  /** Slow and new receivers must not use up the slots of proven ones. */
  const freeFor = (pool: SendPool) => {
    const free = maxInFlight - slots.size
    const unproven = slots.size - usedIn("PROVEN").length
    return Math.max(0, pool === "PROVEN" ? free : Math.min(free, maxInFlightUnproven - unproven))
  }

  return {
    acquire: (claimed: ClaimedDelivery, now: number): SendSlot => {
      const receiver = receiverOf(claimed)
      receiver.inFlight++
      const { integration, provider, tenant } = claimed
      const slot: SendSlot = {
        tenant,
        integration,
        startedAt: now,
        slowAfterMs: slowAfterMs[provider],
        receiver,
        hasResponse: false,
        isSlow: false
      }
      slots.add(slot)
      return slot
    },

    /** Adapts the receiver's limit to the response. The slot stays in use until the outcome is recorded. */
    recordResponse: (slot: SendSlot, delivered: boolean, now: number) => {
      slot.hasResponse = true
      if (slot.isSlow) return
      if (now - slot.startedAt >= slot.slowAfterMs) slowDown(slot, now)
      else if (delivered) slot.receiver.state = increaseSendLimit(slot.receiver.state, slot.receiver.inFlight)
    },

    release: (slot: SendSlot) => {
      slots.delete(slot)
      slot.receiver.inFlight--
      evictIdle()
    },

    /** The limits of the next claim for a pool. */
    claimLimitsFor: (pool: SendPool, now: number): ClaimLimits => {
      markSlow(now)
      const used = usedIn(pool)
      const poolFree = Math.max(0, poolSlots[pool] - used.length)
      const totalFree = freeFor(pool)
      const poolUsed = new Map<string, number>()
      const totalUsed = new Map<string, number>()
      for (const { tenant } of used) increment(poolUsed, tenant)
      for (const { tenant } of slots) increment(totalUsed, tenant)
      const allowanceOf = (tenant: string) =>
        tenantAllowance({
          poolFree,
          totalFree,
          poolUsed: poolUsed.get(tenant) ?? 0,
          totalUsed: totalUsed.get(tenant) ?? 0
        })
      return {
        pool,
        max: Math.min(poolFree, totalFree, maxClaimSize),
        maxPerTenant: tenantAllowance({ poolFree, totalFree, poolUsed: 0, totalUsed: 0 }),
        allowanceByTenant: Object.fromEntries(Array.from(totalUsed.keys(), (tenant) => [tenant, allowanceOf(tenant)])),
        sendLimitByIntegration: receiverLimits()
      }
    },

    poolOf: ({ receiver }: SendSlot) => poolOf(receiver.state),
    usage: () => sendPools.map((pool) => [pool, usedIn(pool).length] as const),
    size: () => slots.size
  }
}

export type SendSlots = ReturnType<typeof makeSendSlots>
