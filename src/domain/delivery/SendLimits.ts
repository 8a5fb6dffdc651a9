/** Slots a worker process has for sending, by what is known of the receiver. */
export const poolSlots = { PROVEN: 192, NEW: 64, SLOW: 32 } as const

export type Pool = keyof typeof poolSlots
export const pools: ReadonlyArray<Pool> = ["PROVEN", "NEW", "SLOW"]

/**
 * Attempts in flight in one process. More than the pools hold together: a receiver that turns slow takes its attempts
 * into the SLOW pool with it, full or not, and frees their slots in the PROVEN pool.
 */
export const maxInFlight = 512

/** Of these, to slow and new receivers together. */
export const maxUnproven = maxInFlight / 2

/** Attempts of one tenant in flight in one process, whichever pools they are in. */
export const maxPerTenant = 96

/** Deliveries in flight to one integration, from all processes together. */
export const maxPerIntegration = 64

const provenLimit = 4
const newLimit = 2
const minThreshold = 16

/** The limit of an integration of which only the pool is known. */
export const initialLimit = { PROVEN: provenLimit, NEW: newLimit, SLOW: 1 } as const satisfies Record<Pool, number>

/** An attempt that takes this long is slow, whatever comes of it. Uploading a document takes its time. */
export const slowAfterMs = { WEBHOOK: 2000, NATS: 2000, GOOGLE_DRIVE: 10_000 } as const

/** The concurrency limit of one integration, adapted as TCP adapts its congestion window. */
export interface SendLimit {
  /** May be a fraction: the attempts that may be in flight are the whole of it. */
  readonly limit: number
  /** Below this the limit doubles from one round of answers to the next; above it grows by one a round. */
  readonly threshold: number
  readonly decreasedAt: number
}

export const startingAt = (limit: number): SendLimit => ({ limit, threshold: maxPerIntegration, decreasedAt: 0 })

export const poolOf = ({ limit }: SendLimit): Pool =>
  limit >= provenLimit ? "PROVEN" : limit >= newLimit ? "NEW" : "SLOW"

/** After a quick success. A limit that is not used does not grow: nothing shows that the receiver can take more. */
export const afterQuick = (state: SendLimit, inFlight: number): SendLimit => {
  const { limit, threshold } = state
  if (limit < provenLimit) return { ...state, limit: limit * 2 }
  if (inFlight * 2 < limit) return state
  return { ...state, limit: Math.min(limit + (limit < threshold ? 1 : 1 / limit), maxPerIntegration) }
}

/**
 * After an attempt that is slow, as soon as that shows. The threshold falls once for all that were in flight together;
 * so a receiver that turns slow again and again gets less each time.
 */
export const afterSlow = (state: SendLimit, startedAt: number, now: number): SendLimit => {
  const limit = Math.max(1, state.limit / 2)
  if (startedAt < state.decreasedAt) return { ...state, limit }
  return { limit, threshold: Math.max(minThreshold, limit), decreasedAt: now }
}

interface Usage {
  /** Free slots of the pool, and of all that the pool shares with others. */
  readonly poolFree: number
  readonly totalFree: number
  /** Slots the tenant uses in the pool and in the process. */
  readonly poolUsed: number
  readonly totalUsed: number
}

/** Half of what keeps the tenant's share no larger than what stays free for others (dynamic thresholds). */
const shareOf = (free: number, used: number) => Math.ceil((free - used) / 2)

/** How many slots of a pool a tenant may take now. What is left shrinks as tenants come, and each newcomer finds some. */
export const tenantAllowance = ({ poolFree, poolUsed, totalFree, totalUsed }: Usage) =>
  Math.max(0, Math.min(shareOf(poolFree, poolUsed), shareOf(totalFree, totalUsed), maxPerTenant - totalUsed))
