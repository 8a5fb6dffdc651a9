/** Sending slots of a worker process, by pool. The pool depends on how the receiver performed. */
export const poolSlots = { PROVEN: 192, NEW: 64, SLOW: 32 } as const

export type SendPool = keyof typeof poolSlots
export const sendPools: ReadonlyArray<SendPool> = ["PROVEN", "NEW", "SLOW"]

/**
 * Maximum number of attempts in flight in one process. It exceeds the sum of the pools: when a receiver becomes slow,
 * its attempts move to the SLOW pool, even if that is full, and free their slots in the PROVEN pool.
 */
export const maxInFlight = 512

/** Maximum number of attempts in flight to SLOW and NEW receivers together, in one process. */
export const maxInFlightUnproven = maxInFlight / 2

/** Maximum number of attempts in flight of one tenant in one process, over all pools. */
export const maxInFlightPerTenant = 96

/** Maximum number of deliveries in flight to one integration, over all processes. */
export const maxInFlightPerIntegration = 64

const provenLimit = 4
const newLimit = 2
const minThreshold = 16

/** Initial limit of an integration in a pool. */
export const initialLimit = { PROVEN: provenLimit, NEW: newLimit, SLOW: 1 } as const satisfies Record<SendPool, number>

/** An attempt of this duration is slow, even if it succeeds. Uploads to Google Drive and mails get more time. */
export const slowAfterMs = { WEBHOOK: 2000, NATS: 2000, GOOGLE_DRIVE: 10_000, EMAIL: 10_000 } as const

/** The adaptive concurrency limit of one integration. It adapts as the congestion window of TCP does. */
export interface SendLimit {
  /** Can be fractional. The number of attempts in flight is limited to its integer part. */
  readonly limit: number
  /** Slow-start threshold: below it the limit doubles per round of responses, above it the limit grows by one. */
  readonly threshold: number
  readonly decreasedAt: number
}

export const makeSendLimit = (limit: number): SendLimit => ({
  limit,
  threshold: maxInFlightPerIntegration,
  decreasedAt: 0
})

export const poolOf = ({ limit }: SendLimit): SendPool =>
  limit >= provenLimit ? "PROVEN" : limit >= newLimit ? "NEW" : "SLOW"

/** Raises the limit after a fast success. An unused limit stays: nothing proves that the receiver can handle more. */
export const increaseSendLimit = (state: SendLimit, inFlight: number): SendLimit => {
  const { limit, threshold } = state
  if (limit < provenLimit) return { ...state, limit: limit * 2 }
  if (inFlight * 2 < limit) return state
  return { ...state, limit: Math.min(limit + (limit < threshold ? 1 : 1 / limit), maxInFlightPerIntegration) }
}

/**
 * Halves the limit for each slow attempt, without waiting for its end. The threshold falls once for all attempts that
 * were in flight together, so it falls further each time a receiver becomes slow again.
 */
export const decreaseSendLimit = (state: SendLimit, startedAt: number, now: number): SendLimit => {
  const limit = Math.max(1, state.limit / 2)
  if (startedAt < state.decreasedAt) return { ...state, limit }
  return { limit, threshold: Math.max(minThreshold, limit), decreasedAt: now }
}

interface Usage {
  /** Free slots of the pool, and of the capacity that it shares with other pools. */
  readonly poolFree: number
  readonly totalFree: number
  /** Slots that the tenant uses in the pool, and in the process. */
  readonly poolUsed: number
  readonly totalUsed: number
}

/** Dynamic thresholds: the largest `x` with `used + x <= free - x`, rounded up. Others get the rest. */
const shareOf = (free: number, used: number) => Math.ceil((free - used) / 2)

/** Number of slots of a pool that a tenant may take now. Shares shrink as tenants join, and a new tenant finds some. */
export const tenantAllowance = ({ poolFree, poolUsed, totalFree, totalUsed }: Usage) =>
  Math.max(0, Math.min(shareOf(poolFree, poolUsed), shareOf(totalFree, totalUsed), maxInFlightPerTenant - totalUsed))
