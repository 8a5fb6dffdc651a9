import { Data, Duration, Effect } from "effect"

export interface FairSemaphoreLimits {
  /** Permits in total. */
  readonly permits: number
  /** Permits in use by one key. */
  readonly maxPerKey: number
  readonly maxQueuedPerKey: number
  readonly maxQueued: number
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

/** The precision of timeouts. */
const sweepIntervalMs = 50

export interface AcquireOptions {
  readonly timeout?: Duration.DurationInput
  /** Ignores the queue limits and is never evicted. The caller must bound this work in another way. */
  readonly isUnbounded?: boolean
}

/** The permits and queued work of one key. Removed when both are zero. */
interface KeyUsage {
  readonly key: string
  holding: number
  queued: number
  /** The number of the grant that last served this key. */
  servedAt: number
}

/** A granted permit. */
interface Permit {
  readonly usages: ReadonlyArray<KeyUsage>
}

/** Work in a queue. */
interface Ticket extends Permit {
  readonly queue: KeyQueue
  readonly isUnbounded: boolean
  readonly deadline: number
  state: "queued" | "granted" | "left"
  resume: (result: Effect.Effect<void, PermitRejection>) => void
}

/** The queued work with the same keys, first in, first out. */
interface KeyQueue extends Permit {
  readonly name: string
  readonly waiting: Set<Ticket>
}

const newestBounded = ({ waiting }: KeyQueue) => {
  let newest: Ticket | undefined
  for (const ticket of waiting) if (!ticket.isUnbounded) newest = ticket
  return newest
}

/** The queue length of the busiest key. */
const queueLengthOf = ({ usages }: KeyQueue) => Math.max(...usages.map(({ queued }) => queued))

/**
 * The lowest rank is served first: by the most permits of any key, then by the latest grant of any key, then by the sum
 * of their latest grants. The sum of their permits would favor a caller that spreads over many tenants.
 */
type Rank = readonly [load: number, servedAt: number, servedBefore: number]

const rankOf = ({ usages }: KeyQueue): Rank => {
  let [load, servedAt, servedBefore] = [0, 0, 0]
  for (const usage of usages) {
    load = Math.max(load, usage.holding)
    servedAt = Math.max(servedAt, usage.servedAt)
    servedBefore += usage.servedAt
  }
  return [load, servedAt, servedBefore]
}

const isBefore = (one: Rank, other: Rank) => {
  if (one[0] !== other[0]) return one[0] < other[0]
  return one[1] === other[1] ? one[2] < other[2] : one[1] < other[1]
}

/**
 * The state of a fair semaphore. A permit counts against each key of its work, for example the caller and the tenant. A
 * free permit goes to the work whose keys use the fewest, and among equals to the least recently served. So neither one
 * caller with many tenants nor one tenant with many callers gets more than one share.
 */
class FairQueues {
  readonly #limits: FairSemaphoreLimits
  readonly #usages = new Map<string, KeyUsage>()
  readonly #queues = new Map<string, KeyQueue>()
  #holding = 0
  #queued = 0
  #grants = 0
  #sweeping: NodeJS.Timeout | undefined

  constructor(limits: FairSemaphoreLimits) {
    this.#limits = limits
  }

  get holding() {
    return this.#holding
  }

  get queued() {
    return this.#queued
  }

  isQueueFull(key: string, arriving = 0) {
    return (this.#usages.get(key)?.queued ?? 0) + arriving >= this.#limits.maxQueuedPerKey
  }

  /** Takes a permit if one is free. */
  tryTake(keys: ReadonlyArray<string>): Permit | undefined {
    const usages = keys.map((key) => this.#usage(key))
    if (this.#canGrant(usages)) return this.#grant({ usages })
    this.#removeIdle(usages)
    return undefined
  }

  /** Queues the work, or returns why it cannot. */
  enqueue(keys: ReadonlyArray<string>, isUnbounded: boolean, timeoutMillis: number): Ticket | QueueFull {
    const queue = this.#queue(keys)
    const { usages } = queue
    const full = isUnbounded ? undefined : this.#refusal(queue)
    if (full !== undefined) {
      this.#removeIdle(usages)
      return full
    }
    const deadline = performance.now() + timeoutMillis
    const ticket: Ticket = { queue, usages, isUnbounded, deadline, state: "queued", resume: () => {} }
    this.#queues.set(queue.name, queue)
    queue.waiting.add(ticket)
    this.#sweeping ??= setInterval(() => this.#sweep(), sweepIntervalMs)
    this.#queued++
    for (const usage of usages) usage.queued++
    return ticket
  }

  release({ usages }: Permit) {
    this.#holding--
    for (const usage of usages) usage.holding--
    this.#removeIdle(usages)
    this.#dispatch()
  }

  /** Leaves the queue, or releases the permit when it has been granted meanwhile. */
  leave(ticket: Ticket) {
    const { state } = ticket
    if (state === "queued") this.#dequeue(ticket)
    ticket.state = "left"
    if (state === "granted") this.release(ticket)
    else this.#removeIdle(ticket.usages)
  }

  #queue(keys: ReadonlyArray<string>): KeyQueue {
    const name = keys.join("\n")
    return this.#queues.get(name) ?? { name, usages: keys.map((key) => this.#usage(key)), waiting: new Set() }
  }

  #usage(key: string) {
    const known = this.#usages.get(key)
    if (known !== undefined) return known
    const added = { key, holding: 0, queued: 0, servedAt: 0 }
    this.#usages.set(key, added)
    return added
  }

  #removeIdle(usages: ReadonlyArray<KeyUsage>) {
    for (const usage of usages) {
      // `usage` may be stale: its key can have a new entry by now.
      const isIdle = usage.holding === 0 && usage.queued === 0 && this.#usages.get(usage.key) === usage
      if (isIdle) this.#usages.delete(usage.key)
    }
  }

  #canGrant(usages: ReadonlyArray<KeyUsage>) {
    if (this.#holding >= this.#limits.permits) return false
    for (const { holding } of usages) if (holding >= this.#limits.maxPerKey) return false
    return true
  }

  #grant(permit: Permit) {
    this.#grants++
    this.#holding++
    for (const usage of permit.usages) {
      usage.holding++
      usage.servedAt = this.#grants
    }
    return permit
  }

  #dequeue(ticket: Ticket) {
    const { queue } = ticket
    queue.waiting.delete(ticket)
    if (queue.waiting.size === 0) this.#queues.delete(queue.name)
    this.#queued--
    for (const usage of queue.usages) usage.queued--
  }

  /** When the total is full, the newest ticket of the longest queue is evicted in favor of a shorter queue. */
  #refusal(queue: KeyQueue) {
    if (queue.usages.some(({ key }) => this.isQueueFull(key))) return queueFull.key
    if (this.#queued < this.#limits.maxQueued) return undefined
    const evicted = this.#newestOfLongestQueue()
    if (evicted === undefined || queueLengthOf(evicted.queue) <= queueLengthOf(queue) + 1) {
      return queueFull.all
    }
    this.#dequeue(evicted)
    evicted.state = "left"
    evicted.resume(Effect.fail(queueFull.all))
    return undefined
  }

  /** One timer for all tickets: a timer each would dominate the cost of queueing. */
  #sweep() {
    const now = performance.now()
    for (const { waiting } of this.#queues.values()) {
      for (const ticket of waiting) if (ticket.deadline <= now) ticket.resume(Effect.fail(queueTimeout))
    }
    if (this.#queued > 0) return
    clearInterval(this.#sweeping)
    this.#sweeping = undefined
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

  #nextQueue() {
    let next: KeyQueue | undefined
    let best: Rank | undefined
    for (const queue of this.#queues.values()) {
      if (!this.#canGrant(queue.usages)) continue
      if (this.#queues.size === 1) return queue
      const rank = rankOf(queue)
      if (best === undefined || isBefore(rank, best)) [next, best] = [queue, rank]
    }
    return next
  }

  #dispatch() {
    while (this.#queued > 0 && this.#holding < this.#limits.permits) {
      const [ticket] = this.#nextQueue()?.waiting ?? []
      if (ticket === undefined) return
      this.#dequeue(ticket)
      this.#grant(ticket)
      ticket.state = "granted"
      ticket.resume(Effect.void)
    }
  }
}

/**
 * A bulkhead: shares a bounded number of permits fairly by key, with bounded queues and a timeout. Work without a
 * permit fails with the error of `toError`.
 */
export const makeFairSemaphore = <X>(limits: FairSemaphoreLimits, toError: (rejection: PermitRejection) => X) => {
  const queues = new FairQueues(limits)

  const waitFor = (ticket: Ticket) =>
    Effect.async<void, PermitRejection>((resume) => {
      // Other fibers may have run since `enqueue`.
      if (ticket.state === "granted") return resume(Effect.void)
      if (ticket.state === "left") return resume(Effect.fail(queueFull.all))
      ticket.resume = resume
    })

  /** Call it in an uninterruptible region, with interruptible work. Faster than `Effect.ensuring`. */
  const thenRelease = <A, E, R>(work: Effect.Effect<A, E, R>, release: () => void): Effect.Effect<A, E, R> =>
    Effect.matchCauseEffect(work, {
      onSuccess: (value) => {
        release()
        return Effect.succeed(value)
      },
      onFailure: (cause) => {
        release()
        return Effect.failCause(cause)
      }
    })

  return {
    /** Whether a key's queue is full, or will be with what is `arriving`: a cheap check before expensive preparations. */
    isQueueFull: (key: string, arriving?: number) => queues.isQueueFull(key, arriving),
    permitsInUse: () => queues.holding,
    queued: () => queues.queued,

    /**
     * Takes a permit at a lower cost than `withPermit`. It passes the release to `onEnd` before any wait; the caller
     * must run the release however the work ends. Returns the wait to run before the work, or undefined.
     */
    acquire: (
      keys: ReadonlyArray<string>,
      onEnd: (release: () => void) => void,
      { isUnbounded = false, timeout = limits.timeout }: AcquireOptions = {}
    ): Effect.Effect<void, X> | undefined => {
      const permit = queues.tryTake(keys)
      if (permit !== undefined) {
        onEnd(() => queues.release(permit))
        return undefined
      }
      const ticket = queues.enqueue(keys, isUnbounded, Duration.toMillis(timeout))
      if (ticket instanceof QueueFull) return Effect.fail(toError(ticket))
      onEnd(() => queues.leave(ticket))
      return Effect.mapError(waitFor(ticket), toError)
    },

    /** Runs the work with a permit that counts against each of the keys. */
    withPermit: <A, E, R>(
      keys: ReadonlyArray<string>,
      work: Effect.Effect<A, E, R>,
      { isUnbounded = false, timeout = limits.timeout }: AcquireOptions = {}
    ): Effect.Effect<A, E | X, R> =>
      Effect.uninterruptibleMask((restore) => {
        const permit = queues.tryTake(keys)
        if (permit !== undefined) return thenRelease(restore(work), () => queues.release(permit))
        const ticket = queues.enqueue(keys, isUnbounded, Duration.toMillis(timeout))
        if (ticket instanceof QueueFull) return Effect.fail(toError(ticket))
        const waitAndWork = Effect.zipRight(Effect.mapError(restore(waitFor(ticket)), toError), restore(work))
        return thenRelease(waitAndWork, () => queues.leave(ticket))
      })
  }
}
