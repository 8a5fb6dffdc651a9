import { Data, Duration } from "effect"
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

export interface FairSemaphoreLimits {
  /** Permits in total. The last one goes to work whose keys have none. */
  readonly permits: number
  /** Permits in use by one key. */
  readonly maxPerKey: number
  /** Permits in use by a key after the first of its work, such as the tenant of a caller. Default: `maxPerKey`. */
  readonly maxPerGroup?: number
  readonly maxQueuedPerKey: number
  readonly maxQueued: number
  /** Lets a burst exceed the maxima of queued work: they apply only to standing queues. Default: they always apply. */
  readonly standing?: StandingQueue
  /** Default time that work waits for a permit. */
  readonly timeout: Duration.DurationInput
}

/** The queue of one of the keys is full, or the total of all queues is. */
export class QueueFull extends Data.TaggedError("QueueFull")<{ readonly scope: "key" | "all" }> {}

export class QueueTimeout extends Data.TaggedError("QueueTimeout") {}

export type PermitRejection = QueueFull | QueueTimeout

/** Shared, because a new error captures a stack trace, which costs as much as the rest of a rejection. */
export const queueFull = { key: new QueueFull({ scope: "key" }), all: new QueueFull({ scope: "all" }) }
const queueTimeout = new QueueTimeout()

/** How often queues are looked at: the precision of timeouts. */
const sweepIntervalMs = 50

/** A standing queue ends when less than this part of its maximum is left. */
const standingEnd = 0.25

/** A granted permit. */
export interface Permit {
  readonly usages: ReadonlyArray<KeyUsage>
  grantedAt: number
}

/** Work in a queue. */
export interface Ticket extends Permit {
  readonly queue: KeyQueue
  readonly isUnbounded: boolean
  readonly queuedAt: number
  readonly deadline: number
  state: "queued" | "granted" | "left"
  /** Why it left the queue without a permit. */
  rejection: PermitRejection | undefined
  /** Called once, with the permit or the reason why there is none. */
  resume: (rejection?: PermitRejection) => void
}

/** The queued work with the same keys, first in, first out. */
interface KeyQueue {
  readonly name: string
  readonly usages: ReadonlyArray<KeyUsage>
  readonly waiting: Set<Ticket>
}

const newestBounded = ({ waiting }: KeyQueue) => {
  let newest: Ticket | undefined
  for (const ticket of waiting) if (!ticket.isUnbounded) newest = ticket
  return newest
}

/** The queue length of the busiest key. */
const queueLengthOf = ({ usages }: KeyQueue) => Math.max(...usages.map(({ queued }) => queued))

const noKeys: ReadonlyArray<KeyUsage> = []

/**
 * The state of a fair semaphore. A permit counts against each key of its work, for example the caller and the tenant. A
 * free permit goes to the work whose keys have used permits for the shortest time lately, and among equals to the least
 * recently served. So neither one caller with many tenants nor one tenant with many callers gets more than one share, and
 * slow work gets no more than fast work.
 */
export class FairQueues {
  readonly #limits: FairSemaphoreLimits
  readonly #standing: { readonly waitMs: number; readonly durationMs: number; readonly maxQueued: number } | undefined
  readonly #usages = new Map<string, KeyUsage>()
  readonly #queues = new Map<string, KeyQueue>()
  /** Counts all work, whatever its keys. */
  readonly #all = new KeyUsage("")
  /** Keys without permits and queued work whose used time still counts. */
  readonly #remembered = new Set<KeyUsage>()
  #grants = 0
  #sweeping: NodeJS.Timeout | undefined

  constructor(limits: FairSemaphoreLimits) {
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

  /** Whether the limit of all queued work applies. */
  get isStanding() {
    return this.#all.isStanding
  }

  isQueueFull(key: string, arriving = 0) {
    const usage = this.#usages.get(key)
    return usage !== undefined && this.#isFull(usage, this.#limits.maxQueuedPerKey, arriving)
  }

  /** Takes a permit if one is free. */
  tryTake(keys: ReadonlyArray<string>): Permit | undefined {
    const usages = this.#usagesOf(keys)
    if (this.#canGrant(usages)) return this.#grant({ usages, grantedAt: 0 })
    this.#forgetIdle(usages)
    return undefined
  }

  /** Queues the work, or returns why it cannot. */
  tryEnqueue(keys: ReadonlyArray<string>, timeoutMillis: number): Ticket | QueueFull {
    const queue = this.#queue(keys)
    const full = this.#refusal(queue)
    if (full === undefined) return this.#add(queue, false, timeoutMillis)
    this.#forgetIdle(queue.usages)
    return full
  }

  /** Queues the work beyond all limits. It is never evicted. */
  enqueue(keys: ReadonlyArray<string>, timeoutMillis: number): Ticket {
    return this.#add(this.#queue(keys), true, timeoutMillis)
  }

  #add(queue: KeyQueue, isUnbounded: boolean, timeoutMillis: number): Ticket {
    const { usages } = queue
    const queuedAt = performance.now()
    const deadline = queuedAt + timeoutMillis
    const ticket: Ticket = {
      ...{ queue, usages, isUnbounded, queuedAt, deadline, grantedAt: 0 },
      state: "queued",
      rejection: undefined,
      resume: () => {}
    }
    this.#queues.set(queue.name, queue)
    queue.waiting.add(ticket)
    this.#all.queued++
    for (const usage of usages) usage.queued++
    this.#startSweeping()
    return ticket
  }

  release({ grantedAt, usages }: Permit) {
    const now = performance.now()
    this.#all.holding--
    for (const usage of usages) usage.giveBack(grantedAt, now)
    this.#forgetIdle(usages, now)
    this.#dispatch(now)
  }

  /** Leaves the queue, or releases the permit when it has been granted meanwhile. */
  leave(ticket: Ticket) {
    const { state } = ticket
    if (state === "queued") this.#dequeue(ticket)
    ticket.state = "left"
    if (state === "granted") this.release(ticket)
    else this.#forgetIdle(ticket.usages)
  }

  #queue(keys: ReadonlyArray<string>): KeyQueue {
    const name = keys.join("\n")
    return this.#queues.get(name) ?? { name, usages: this.#usagesOf(keys), waiting: new Set() }
  }

  #usagesOf(keys: ReadonlyArray<string>) {
    return keys.length === 0 ? noKeys : keys.map((key) => this.#usage(key))
  }

  #usage(key: string) {
    const known = this.#usages.get(key)
    if (known !== undefined) return known
    const added = new KeyUsage(key)
    this.#usages.set(key, added)
    return added
  }

  /** Forgets keys without permits and queued work, at once or when the time that they have used counts no longer. */
  #forgetIdle(usages: Iterable<KeyUsage>, now = performance.now()) {
    for (const usage of usages) {
      if (usage.isInUse) this.#remembered.delete(usage)
      else if (usage.timeSteps(now) > 0) {
        this.#remembered.add(usage)
        this.#startSweeping()
      } else {
        this.#remembered.delete(usage)
        // `usage` may be stale: its key can have a new entry by now.
        if (this.#usages.get(usage.key) === usage) this.#usages.delete(usage.key)
      }
    }
  }

  #canGrant(usages: ReadonlyArray<KeyUsage>) {
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
    return free > 1 || used === 0 || maxPerKey >= permits
  }

  #grant<P extends Permit>(permit: P, now = performance.now()) {
    this.#grants++
    this.#all.holding++
    permit.grantedAt = now
    for (const usage of permit.usages) usage.take(this.#grants, now)
    return permit
  }

  #dequeue(ticket: Ticket) {
    const { queue } = ticket
    queue.waiting.delete(ticket)
    if (queue.waiting.size === 0) this.#queues.delete(queue.name)
    this.#all.dequeue()
    for (const usage of queue.usages) usage.dequeue()
  }

  #evict(ticket: Ticket, rejection: PermitRejection) {
    this.#dequeue(ticket)
    this.#forgetIdle(ticket.usages)
    ticket.state = "left"
    ticket.rejection = rejection
    ticket.resume(rejection)
  }

  #isFull(usage: KeyUsage, max: number, arriving = 0) {
    return usage.queued + arriving >= max && (this.#standing === undefined || usage.isStanding)
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
      if (!this.#canGrant(queue.usages)) continue
      if (this.#queues.size === 1) return queue
      const rank = rankOf(queue.usages, now)
      if (best === undefined || isBefore(rank, best)) [next, best] = [queue, rank]
    }
    return next
  }

  #dispatch(now: number) {
    while (this.#all.queued > 0 && this.#all.holding < this.#limits.permits) {
      const [ticket] = this.#nextQueue(now)?.waiting ?? []
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
    for (const { waiting } of this.#queues.values()) {
      for (const ticket of waiting) if (ticket.deadline <= now) this.#evict(ticket, queueTimeout)
    }
    if (this.#standing !== undefined) this.#cutStandingQueues(now)
    this.#forgetIdle([...this.#remembered], now)
    if (this.#all.queued > 0 || this.#remembered.size > 0) return
    clearInterval(this.#sweeping)
    this.#sweeping = undefined
  }

  /** Finds standing queues, and rejects what exceeds their maxima. */
  #cutStandingQueues(now: number) {
    const { maxQueued, maxQueuedPerKey } = this.#limits
    const waits = new Map<KeyUsage, number>()
    let longestWait = 0
    for (const { usages, waiting } of this.#queues.values()) {
      const [oldest] = waiting
      const wait = now - (oldest?.queuedAt ?? now)
      for (const usage of usages) waits.set(usage, Math.max(waits.get(usage) ?? 0, wait))
      longestWait = Math.max(longestWait, wait)
    }
    for (const [usage, wait] of waits) this.#cutIfStanding(usage, wait, maxQueuedPerKey, now)
    this.#cutIfStanding(this.#all, longestWait, maxQueued, now)
  }

  #cutIfStanding(usage: KeyUsage, wait: number, max: number, now: number) {
    if (this.#standing === undefined) return
    const { durationMs, waitMs } = this.#standing
    usage.waitsSince = wait < waitMs ? undefined : (usage.waitsSince ?? now)
    if (usage.queued < max * standingEnd) usage.isStanding = false
    else if (usage.waitsSince !== undefined && now - usage.waitsSince >= durationMs) usage.isStanding = true
    if (usage.isStanding && usage.queued > max) this.#cut(usage, usage.queued - max)
  }

  /** Rejects the last work of the longest queues of a key, or of all keys. */
  #cut(usage: KeyUsage, excess: number) {
    const isAll = usage === this.#all
    const tickets: Array<readonly [place: number, ticket: Ticket]> = []
    for (const { usages, waiting } of this.#queues.values()) {
      if (!isAll && !usages.includes(usage)) continue
      let place = 0
      for (const ticket of waiting) if (!ticket.isUnbounded) tickets.push([place++, ticket])
    }
    const lastFirst = tickets.sort(([one], [other]) => other - one).slice(0, excess)
    for (const [, ticket] of lastFirst) this.#evict(ticket, isAll ? queueFull.all : queueFull.key)
  }
}
