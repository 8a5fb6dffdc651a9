import { Duration } from "effect"
import {
  KeyQueue,
  type Permit,
  type PermitRejection,
  type QueueFull,
  queueFull,
  queueTimeout,
  Ticket
} from "./KeyQueue.ts"
import { isBefore, KeyUsage, type Rank, rankOf } from "./KeyUsage.ts"

/** A queue stands when its work has waited for longer than `wait` all through `duration` (as in CoDel, RFC 8289). */
export interface StandingQueue {
  readonly wait: Duration.DurationInput
  readonly duration: Duration.DurationInput
  /** Work in all queues, also while none stands. */
  readonly maxQueued: number
}

/** For requests: a burst is served if its queue becomes short again within this time. */
export const standingRequests: StandingQueue = { wait: "100 millis", duration: "1 second", maxQueued: 4096 }

export interface FairQueueLimits {
  /** Permits in total. The last one goes to work whose keys have none. */
  readonly permits: number
  /** Permits in use by one key. */
  readonly maxPerKey: number
  /** Permits in use by a key after the first of its work, such as the tenant of a caller. Default: `maxPerKey`. */
  readonly maxPerGroup?: number
  /** Permits in use by the first key of work, if its work has been slow lately and others work too. Default: `maxPerKey`. */
  readonly maxPerSlowKey?: number
  readonly maxQueuedPerKey: number
  readonly maxQueued: number
  /** Lets a burst exceed the maxima of queued work: they apply only to standing queues. Default: they always apply. */
  readonly standing?: StandingQueue
}

/** How often queues are looked at: the precision of timeouts. */
const sweepIntervalMs = 50

const minMaxKeys = 1024

/** A standing queue ends when less than this part of its maximum is left. */
const standingEnd = 0.25

/** One that stood this lately stands again without waiting for `duration`: overload comes in waves. */
const standingMemoryMs = 10_000

const newestBounded = ({ last }: KeyQueue) => {
  let newest = last
  while (newest?.isUnbounded === true) newest = newest.previous
  return newest
}

/** The key with the most work in queues. Work without keys has none. */
const busiestOf = ({ usages }: KeyQueue) =>
  usages.reduce<KeyUsage | undefined>(
    (one, other) => (one !== undefined && one.queued >= other.queued ? one : other),
    undefined
  )

const queueLengthOf = (queue: KeyQueue) => busiestOf(queue)?.queued ?? 0

const noKeys: ReadonlyArray<KeyUsage> = []

/**
 * The state of a fair semaphore. A permit counts against each key of its work, for example the caller and the tenant. A
 * free permit goes to the work whose keys have used permits for the shortest time lately, and among equals to the least
 * recently served. So neither one caller with many tenants nor one tenant with many callers gets more than one share, and
 * slow work gets no more than fast work.
 */
export class FairQueues {
  readonly #limits: FairQueueLimits
  readonly #standing: { readonly waitMs: number; readonly durationMs: number; readonly maxQueued: number } | undefined
  readonly #usages = new Map<string, KeyUsage>()
  readonly #queues = new Map<string, KeyQueue>()
  /** Counts all work, whatever its keys. */
  readonly #all = new KeyUsage()
  /** At this number of keys, the idle ones are forgotten. */
  #maxKeys = minMaxKeys
  #grants = 0
  #sweeping: NodeJS.Timeout | undefined

  constructor(limits: FairQueueLimits) {
    this.#limits = limits
    this.#standing = limits.standing && {
      waitMs: Duration.toMillis(limits.standing.wait),
      durationMs: Duration.toMillis(limits.standing.duration),
      maxQueued: limits.standing.maxQueued
    }
  }

  get holding() {
    return this.#all.holding
  }

  get queued() {
    return this.#all.queued
  }

  /** Whether the maximum of a key, or that of all keys, applies. */
  get isStanding() {
    return this.#all.isStanding || [...this.#queues.values()].some(({ usages }) => usages.some((one) => one.isStanding))
  }

  isQueueFull(key: string, arriving = 0) {
    const usage = this.#usages.get(key)
    return usage !== undefined && this.#isFull(usage, this.#limits.maxQueuedPerKey, arriving)
  }

  /** Takes a permit if one is free. */
  tryTake(keys: ReadonlyArray<string>): Permit | undefined {
    const usages = this.#usagesOf(keys)
    const now = performance.now()
    return this.#canGrant(usages, now) ? this.#grant({ usages, grantedAt: now }, now) : undefined
  }

  /** Queues the work, or returns why it cannot. */
  tryEnqueue(keys: ReadonlyArray<string>, timeoutMillis: number): Ticket | QueueFull {
    const queue = this.#queue(keys)
    const full = this.#refusal(queue)
    return full ?? this.#add(queue, false, timeoutMillis)
  }

  /** Queues the work beyond all limits. It is never evicted. */
  enqueue(keys: ReadonlyArray<string>, timeoutMillis: number): Ticket {
    return this.#add(this.#queue(keys), true, timeoutMillis)
  }

  #add(queue: KeyQueue, isUnbounded: boolean, timeoutMillis: number): Ticket {
    const ticket = new Ticket(queue, isUnbounded, performance.now(), timeoutMillis)
    if (queue.first === undefined) this.#queues.set(queue.name, queue)
    queue.add(ticket)
    this.#all.queued++
    for (const usage of queue.usages) usage.queued++
    this.#startSweeping()
    return ticket
  }

  release({ grantedAt, usages }: Permit) {
    const now = performance.now()
    this.#all.giveBack(grantedAt, now)
    for (const usage of usages) usage.giveBack(grantedAt, now)
    this.#dispatch(now)
  }

  /** Leaves the queue, or releases the permit when it has been granted meanwhile. */
  leave(ticket: Ticket) {
    const { state } = ticket
    if (state === "queued") this.#dequeue(ticket)
    ticket.state = "left"
    if (state === "granted") this.release(ticket)
  }

  #queue(keys: ReadonlyArray<string>): KeyQueue {
    const name = keys.join("\n")
    return this.#queues.get(name) ?? new KeyQueue(name, this.#usagesOf(keys))
  }

  #usagesOf(keys: ReadonlyArray<string>) {
    if (keys.length === 0) return noKeys
    if (this.#usages.size >= this.#maxKeys) this.#forgetIdleKeys()
    return keys.map((key) => this.#usage(key))
  }

  #usage(key: string) {
    const known = this.#usages.get(key)
    if (known !== undefined) return known
    const added = new KeyUsage()
    this.#usages.set(key, added)
    return added
  }

  #forgetIdleKeys() {
    const now = performance.now()
    for (const [key, usage] of this.#usages) if (usage.isIdle(now)) this.#usages.delete(key)
    this.#maxKeys = Math.max(minMaxKeys, 2 * this.#usages.size)
  }

  #canGrant(usages: ReadonlyArray<KeyUsage>, now: number) {
    const { maxPerGroup, maxPerKey, permits } = this.#limits
    const free = permits - this.#all.holding
    if (free <= 0) return false
    let max = maxPerKey
    let used = 0
    for (const { holding } of usages) {
      if (holding >= max) return false
      used += holding
      max = maxPerGroup ?? maxPerKey
    }
    return (free > 1 || used === 0 || maxPerKey >= permits) && !this.#isTooSlow(usages[0], now)
  }

  /** Whether slow work of the first key leaves what is free to others, which share the processors with it. */
  #isTooSlow(usage: KeyUsage | undefined, now: number) {
    const { maxPerSlowKey } = this.#limits
    if (usage === undefined || maxPerSlowKey === undefined || usage.holding < maxPerSlowKey) return false
    if (!usage.isSlow(now)) return false
    return usage.holding < this.#all.holding || usage.takenLately(now) < this.#all.takenLately(now)
  }

  #grant<P extends Permit>(permit: P, now: number) {
    this.#grants++
    permit.grantedAt = now
    this.#all.take(this.#grants, now)
    for (const usage of permit.usages) usage.take(this.#grants, now)
    return permit
  }

  #dequeue(ticket: Ticket) {
    const { queue } = ticket
    queue.remove(ticket)
    if (queue.first === undefined) this.#queues.delete(queue.name)
    this.#all.dequeue()
    for (const usage of queue.usages) usage.dequeue()
  }

  #evict(ticket: Ticket, rejection: PermitRejection) {
    this.#dequeue(ticket)
    ticket.state = "left"
    ticket.rejection = rejection
    ticket.resume(rejection)
  }

  #isFull(usage: KeyUsage, max: number, arriving = 0) {
    return usage.queued + arriving >= max && (this.#standing === undefined || this.#isLimited(usage))
  }

  /** When the total is full, the newest ticket of the longest queue is evicted in favor of a shorter queue. */
  #refusal(queue: KeyQueue) {
    const { maxQueued, maxQueuedPerKey } = this.#limits
    if (queue.usages.some((usage) => this.#isFull(usage, maxQueuedPerKey))) return queueFull.key
    const isFull = this.#isFull(this.#all, maxQueued) || this.#all.queued >= (this.#standing?.maxQueued ?? maxQueued)
    if (!isFull) return undefined
    const evicted = this.#newestOfLongestQueue()
    if (evicted === undefined || queueLengthOf(evicted.queue) <= queueLengthOf(queue) + 1) return queueFull.all
    this.#evict(evicted, queueFull.all)
    return undefined
  }

  #newestOfLongestQueue() {
    let newest: Ticket | undefined
    let length = 0
    for (const queue of this.#queues.values()) {
      const queued = queueLengthOf(queue)
      const ticket = queued > length ? newestBounded(queue) : undefined
      if (ticket !== undefined) [newest, length] = [ticket, queued]
    }
    return newest
  }

  #nextQueue(now: number) {
    let next: KeyQueue | undefined
    let best: Rank | undefined
    for (const queue of this.#queues.values()) {
      if (!this.#canGrant(queue.usages, now)) continue
      if (this.#queues.size === 1) return queue
      const rank = rankOf(queue.usages, now)
      if (best === undefined || isBefore(rank, best)) [next, best] = [queue, rank]
    }
    return next
  }

  #dispatch(now: number) {
    while (this.#all.queued > 0 && this.#all.holding < this.#limits.permits) {
      const ticket = this.#nextQueue(now)?.first
      if (ticket === undefined) return
      this.#dequeue(ticket)
      this.#grant(ticket, now)
      ticket.state = "granted"
      ticket.resume()
    }
  }

  /** One timer for all tickets: a timer each would dominate the cost of queueing. */
  #startSweeping() {
    this.#sweeping ??= setInterval(() => this.#sweep(), sweepIntervalMs).unref()
  }

  #sweep() {
    const now = performance.now()
    for (const queue of this.#queues.values()) {
      for (const ticket of queue) if (ticket.deadline <= now) this.#evict(ticket, queueTimeout)
    }
    if (this.#standing !== undefined) this.#cutStandingQueues(now)
    // As time passes, slow work may use more permits.
    if (this.#limits.maxPerSlowKey !== undefined) this.#dispatch(now)
    if (this.#all.queued > 0) return
    clearInterval(this.#sweeping)
    this.#sweeping = undefined
  }

  /** Finds standing queues, and rejects what exceeds their maxima. */
  #cutStandingQueues(now: number) {
    const { maxQueued, maxQueuedPerKey } = this.#limits
    const waits = new Map<KeyUsage, number>()
    // Work that waits beside free permits waits for those of its own keys.
    const isBusy = this.#all.holding >= this.#limits.permits - 1
    let longestWait = 0
    for (const { first, usages } of this.#queues.values()) {
      const wait = now - (first?.queuedAt ?? now)
      for (const usage of usages) waits.set(usage, Math.max(waits.get(usage) ?? 0, wait))
      if (isBusy) longestWait = Math.max(longestWait, wait)
    }
    for (const [usage, wait] of waits) this.#noteWait(usage, wait, maxQueuedPerKey, now)
    this.#noteWait(this.#all, longestWait, maxQueued, now)
    for (const usage of waits.keys()) this.#cutIfLimited(usage, maxQueuedPerKey)
    this.#cutIfLimited(this.#all, maxQueued)
  }

  /** Whether the maximum of a key applies: its own queues stand, or all together do. */
  #isLimited(usage: KeyUsage) {
    return usage.isStanding || this.#all.isStanding
  }

  #noteWait(usage: KeyUsage, wait: number, max: number, now: number) {
    if (this.#standing === undefined) return
    const { durationMs, waitMs } = this.#standing
    usage.waitsSince = wait < waitMs ? undefined : (usage.waitsSince ?? now)
    const enoughMs = now - usage.stoodAt < standingMemoryMs ? waitMs : durationMs
    if (usage.queued < max * standingEnd) usage.isStanding = false
    else if (usage.waitsSince !== undefined && now - usage.waitsSince >= enoughMs) usage.isStanding = true
    if (usage.isStanding) usage.stoodAt = now
  }

  #cutIfLimited(usage: KeyUsage, max: number) {
    if (this.#isLimited(usage) && usage.queued > max) this.#cut(usage, usage.queued - max)
  }

  /** The bounded work of a key by queue, or of all keys by their busiest key, oldest first. */
  #ticketsToCut(usage: KeyUsage) {
    const groups = new Map<KeyQueue | KeyUsage | undefined, Array<Ticket>>()
    for (const queue of this.#queues.values()) {
      const isAll = usage === this.#all
      if (!isAll && !queue.usages.includes(usage)) continue
      const group = isAll ? busiestOf(queue) : queue
      const tickets = groups.get(group) ?? []
      groups.set(group, tickets)
      for (const ticket of queue) if (!ticket.isUnbounded) tickets.push(ticket)
    }
    return [...groups.values()].map((tickets) => tickets.sort((one, other) => one.queuedAt - other.queuedAt))
  }

  /**
   * Rejects the oldest work of the longest queues of a key, or of the busiest keys: what is left has waited least, and is
   * served soon (CoDel drops at the head, too).
   */
  #cut(usage: KeyUsage, excess: number) {
    const isAll = usage === this.#all
    const places = this.#ticketsToCut(usage).flatMap((tickets) => tickets.map((_, place) => [place, tickets] as const))
    const longestFirst = places.sort(([one], [other]) => other - one).slice(0, excess)
    for (const [, tickets] of longestFirst) {
      const oldest = tickets.shift()
      if (oldest !== undefined) this.#evict(oldest, isAll ? queueFull.all : queueFull.key)
    }
  }
}
