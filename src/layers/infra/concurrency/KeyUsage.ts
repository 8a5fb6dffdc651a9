/** Used time counts half as much after each period. */
const halfLifeMs = 1000
/** Differences of used time below this are noise. */
const timeStepMs = 250
/** Longer use counts no more, so that it is forgotten before work times out that waits behind others. */
const maxTimeSteps = 4

/** What one key holds, waits for and has used lately. */
export class KeyUsage {
  holding = 0
  queued = 0
  /** The number of the grant that last served this key. */
  servedAt = 0
  /** Since when the work of this key has waited for longer than a standing queue may. */
  waitsSince: number | undefined
  /** Whether the limits of its queues apply. */
  isStanding = false
  /** When they applied last. */
  stoodAt = Number.NEGATIVE_INFINITY
  /** The sum of the times at which the permits in use were granted. */
  #grantedAt = 0
  #usedMs = 0
  #usedAt = 0
  /** The permits that it took in this period of `halfLifeMs`, and in the one before. */
  #taken = 0
  #takenBefore = 0
  #takenAt = 0

  /** An empty queue does not stand. */
  dequeue() {
    if (--this.queued > 0) return
    this.isStanding = false
    this.waitsSince = undefined
  }

  /** Whether nothing of it has to be remembered. */
  isIdle(now: number) {
    return this.holding === 0 && this.queued === 0 && this.timeSteps(now) === 0
  }

  take(grant: number, now: number) {
    this.holding++
    this.servedAt = grant
    this.#grantedAt += now
    this.#startPeriod(now)
    this.#taken++
  }

  /** How many permits it took lately. */
  takenLately(now: number) {
    this.#startPeriod(now)
    return this.#taken + this.#takenBefore
  }

  giveBack(grantedAt: number, now: number) {
    this.holding--
    // Set to 0, because a sum of fractions can leave a residue, with which the key would never be idle.
    this.#grantedAt = this.holding === 0 ? 0 : this.#grantedAt - grantedAt
    this.#decay(now)
    this.#usedMs = Math.min(this.#usedMs + now - grantedAt, maxTimeSteps * timeStepMs)
  }

  /** How long it has held permits lately, in steps. Short work counts for nothing. */
  timeSteps(now: number) {
    this.#decay(now)
    return Math.min(Math.floor((this.#usedMs + this.holding * now - this.#grantedAt) / timeStepMs), maxTimeSteps)
  }

  /** Whether it has held permits for as long as counts. */
  isSlow(now: number) {
    return this.timeSteps(now) === maxTimeSteps
  }

  #startPeriod(now: number) {
    const period = Math.floor(now / halfLifeMs)
    if (period === this.#takenAt) return
    this.#takenBefore = period === this.#takenAt + 1 ? this.#taken : 0
    this.#taken = 0
    this.#takenAt = period
  }

  #decay(now: number) {
    const period = Math.floor(now / halfLifeMs)
    if (period !== this.#usedAt) this.#usedMs *= 0.5 ** (period - this.#usedAt)
    this.#usedAt = period
  }
}

/**
 * The lowest rank is served first: by the longest use of any key, then by the most permits of any key, then by the use and
 * the permits of the first key, then by the latest grant of any key, then by the sum of their latest grants. The sum of
 * their permits would favor a caller that spreads over many tenants.
 */
export type Rank = ReadonlyArray<number>

export const rankOf = (usages: ReadonlyArray<KeyUsage>, now: number): Rank => {
  let [timeSteps, load, servedAt, servedBefore] = [0, 0, 0, 0]
  for (const usage of usages) {
    timeSteps = Math.max(timeSteps, usage.timeSteps(now))
    load = Math.max(load, usage.holding)
    servedAt = Math.max(servedAt, usage.servedAt)
    servedBefore += usage.servedAt
  }
  const [first] = usages
  return [timeSteps, load, first?.timeSteps(now) ?? 0, first?.holding ?? 0, servedAt, servedBefore]
}

export const isBefore = (one: Rank, other: Rank) => {
  // An index, because each free permit compares all queues.
  for (let index = 0; index < one.length; index++) {
    const difference = (one[index] ?? 0) - (other[index] ?? 0)
    if (difference !== 0) return difference < 0
  }
  return false
}
