import { Data, Duration, Effect } from "effect"

export interface FairLimits {
  /** Holders at a time. */
  readonly permits: number
  /** Holders of one key at a time. */
  readonly maxPerKey: number
  readonly maxQueuedPerKey: number
  readonly maxQueued: number
  /** How long work waits for a permit, unless it says otherwise. */
  readonly timeout: Duration.DurationInput
}

/** The queue of one of the keys is full, or the queues of all of them together. */
export class QueueFull extends Data.TaggedError("QueueFull")<{ readonly scope: "key" | "all" }> {}

export class QueueTimeout extends Data.TaggedError("QueueTimeout") {}

export type Refused = QueueFull | QueueTimeout

/** How exactly a timeout is kept. */
const sweepMillis = 50

export interface WaitOptions {
  readonly timeout?: Duration.DurationInput
  /** Waits however full the queues are, and is not put out of them: for who bounds the number of these in another way. */
  readonly isUnbounded?: boolean
}

/** What one key holds and waits for. It exists while there is any of it. */
interface Party {
  readonly key: string
  holding: number
  queued: number
  /** The turn in which it last got a permit. */
  servedAt: number
}

/** A permit, once it is granted. */
interface Grant {
  readonly parties: ReadonlyArray<Party>
}

/** A place in the queue. */
interface Ticket extends Grant {
  readonly lane: Lane
  readonly isUnbounded: boolean
  readonly deadline: number
  state: "queued" | "granted" | "left"
  resume: (result: Effect.Effect<void, Refused>) => void
}

/** Those who wait under the same keys, first come first. */
interface Lane extends Grant {
  readonly name: string
  readonly waiting: Set<Ticket>
}

const newestBounded = ({ waiting }: Lane) => {
  let newest: Ticket | undefined
  for (const ticket of waiting) if (!ticket.isUnbounded) newest = ticket
  return newest
}

/** How many wait under the key of a lane that most wait under. */
const queueLengthOf = ({ parties }: Lane) => Math.max(...parties.map(({ queued }) => queued))

/**
 * The lower, the sooner: how much the key that holds most holds, when any of them was last served, and when all of them
 * were. The sum of what they hold would favor a caller who spreads over many tenants.
 */
type Rank = readonly [load: number, servedAt: number, servedBefore: number]

const rankOf = ({ parties }: Lane): Rank => {
  let [load, servedAt, servedBefore] = [0, 0, 0]
  for (const party of parties) {
    load = Math.max(load, party.holding)
    servedAt = Math.max(servedAt, party.servedAt)
    servedBefore += party.servedAt
  }
  return [load, servedAt, servedBefore]
}

const isBefore = (one: Rank, other: Rank) => {
  if (one[0] !== other[0]) return one[0] < other[0]
  return one[1] === other[1] ? one[2] < other[2] : one[1] < other[1]
}

/**
 * The state of a fair semaphore. Work is charged to each of its keys, for example its caller and its tenant. A free
 * permit goes to the work whose keys hold the fewest, and among equals to the one served longest ago: neither many tenants
 * of one caller nor many callers of one tenant get more than the share of one.
 */
class FairQueues {
  readonly #limits: FairLimits
  readonly #parties = new Map<string, Party>()
  readonly #lanes = new Map<string, Lane>()
  #holding = 0
  #queued = 0
  #turn = 0
  #sweeping: NodeJS.Timeout | undefined

  constructor(limits: FairLimits) {
    this.#limits = limits
  }

  get holding() {
    return this.#holding
  }

  get queued() {
    return this.#queued
  }

  isQueueFull(key: string) {
    return (this.#parties.get(key)?.queued ?? 0) >= this.#limits.maxQueuedPerKey
  }

  /** Takes a permit, if there is one. */
  tryTake(keys: ReadonlyArray<string>): Grant | undefined {
    const parties = keys.map((key) => this.#party(key))
    if (this.#canGrant(parties)) return this.#grant({ parties })
    this.#forgetIdle(parties)
    return undefined
  }

  /** Takes a place in the queue, or tells why there is none. */
  enqueue(keys: ReadonlyArray<string>, isUnbounded: boolean, timeoutMillis: number): Ticket | QueueFull {
    const lane = this.#lane(keys)
    const { parties } = lane
    const full = isUnbounded ? undefined : this.#refusal(lane)
    if (full !== undefined) {
      this.#forgetIdle(parties)
      return full
    }
    const deadline = performance.now() + timeoutMillis
    const ticket: Ticket = { lane, parties, isUnbounded, deadline, state: "queued", resume: () => {} }
    this.#lanes.set(lane.name, lane)
    lane.waiting.add(ticket)
    this.#sweeping ??= setInterval(() => this.#sweep(), sweepMillis)
    this.#queued++
    for (const party of parties) party.queued++
    return ticket
  }

  /** Gives back a permit. */
  giveBack({ parties }: Grant) {
    this.#holding--
    for (const party of parties) party.holding--
    this.#forgetIdle(parties)
    this.#dispatch()
  }

  /** Gives back a place in the queue, or the permit it has become. */
  leave(ticket: Ticket) {
    const { state } = ticket
    if (state === "queued") this.#dequeue(ticket)
    ticket.state = "left"
    if (state === "granted") this.giveBack(ticket)
    else this.#forgetIdle(ticket.parties)
  }

  #lane(keys: ReadonlyArray<string>): Lane {
    const name = keys.join("\n")
    return this.#lanes.get(name) ?? { name, parties: keys.map((key) => this.#party(key)), waiting: new Set() }
  }

  #party(key: string) {
    const known = this.#parties.get(key)
    if (known !== undefined) return known
    const made = { key, holding: 0, queued: 0, servedAt: 0 }
    this.#parties.set(key, made)
    return made
  }

  #forgetIdle(parties: ReadonlyArray<Party>) {
    for (const party of parties) {
      // A party that others left behind is not the one its key has now.
      const isIdle = party.holding === 0 && party.queued === 0 && this.#parties.get(party.key) === party
      if (isIdle) this.#parties.delete(party.key)
    }
  }

  #canGrant(parties: ReadonlyArray<Party>) {
    if (this.#holding >= this.#limits.permits) return false
    for (const { holding } of parties) if (holding >= this.#limits.maxPerKey) return false
    return true
  }

  #grant(grant: Grant) {
    this.#turn++
    this.#holding++
    for (const party of grant.parties) {
      party.holding++
      party.servedAt = this.#turn
    }
    return grant
  }

  #dequeue(ticket: Ticket) {
    const { lane } = ticket
    lane.waiting.delete(ticket)
    if (lane.waiting.size === 0) this.#lanes.delete(lane.name)
    this.#queued--
    for (const party of lane.parties) party.queued--
  }

  /** When all queues together are full, the newest of the longest one makes room for a shorter one. */
  #refusal(lane: Lane) {
    if (lane.parties.some(({ key }) => this.isQueueFull(key))) return new QueueFull({ scope: "key" })
    if (this.#queued < this.#limits.maxQueued) return undefined
    const evicted = this.#newestOfLongestLane()
    if (evicted === undefined || queueLengthOf(evicted.lane) <= queueLengthOf(lane) + 1) {
      return new QueueFull({ scope: "all" })
    }
    this.#dequeue(evicted)
    evicted.state = "left"
    evicted.resume(Effect.fail(new QueueFull({ scope: "all" })))
    return undefined
  }

  /** One timer for all who wait: a timer each costs more than the rest of waiting. */
  #sweep() {
    const now = performance.now()
    for (const { waiting } of this.#lanes.values()) {
      for (const ticket of waiting) if (ticket.deadline <= now) ticket.resume(Effect.fail(new QueueTimeout()))
    }
    if (this.#queued > 0) return
    clearInterval(this.#sweeping)
    this.#sweeping = undefined
  }

  #newestOfLongestLane() {
    let newest: Ticket | undefined
    let length = 0
    for (const lane of this.#lanes.values()) {
      const queued = queueLengthOf(lane)
      const ticket = queued > length ? newestBounded(lane) : undefined
      if (ticket !== undefined) [newest, length] = [ticket, queued]
    }
    return newest
  }

  #nextLane() {
    let next: Lane | undefined
    let best: Rank | undefined
    for (const lane of this.#lanes.values()) {
      if (!this.#canGrant(lane.parties)) continue
      if (this.#lanes.size === 1) return lane
      const rank = rankOf(lane)
      if (best === undefined || isBefore(rank, best)) [next, best] = [lane, rank]
    }
    return next
  }

  #dispatch() {
    while (this.#queued > 0 && this.#holding < this.#limits.permits) {
      const [ticket] = this.#nextLane()?.waiting ?? []
      if (ticket === undefined) return
      this.#dequeue(ticket)
      this.#grant(ticket)
      ticket.state = "granted"
      ticket.resume(Effect.void)
    }
  }
}

/**
 * Shares a bounded number of permits fairly by key, with bounded queues and a deadline. Work that gets no permit fails as
 * `toError` says.
 */
export const makeFairSemaphore = <X>(limits: FairLimits, toError: (refused: Refused) => X) => {
  const queues = new FairQueues(limits)

  const waitFor = (ticket: Ticket) =>
    Effect.async<void, Refused>((resume) => {
      // Others may have run between entering and waiting.
      if (ticket.state === "granted") return resume(Effect.void)
      if (ticket.state === "left") return resume(Effect.fail(new QueueFull({ scope: "all" })))
      ticket.resume = resume
    })

  /** To be called where nothing interrupts, with work that may be: plainer than the finalizers of the library, and faster. */
  const thenLeave = <A, E, R>(work: Effect.Effect<A, E, R>, leave: () => void): Effect.Effect<A, E, R> =>
    Effect.matchCauseEffect(work, {
      onSuccess: (value) => {
        leave()
        return Effect.succeed(value)
      },
      onFailure: (cause) => {
        leave()
        return Effect.failCause(cause)
      }
    })

  return {
    /** Whether a key's queue takes nobody any more: a cheap look before expensive preparations. */
    isQueueFull: (key: string) => queues.isQueueFull(key),
    holding: () => queues.holding,
    queued: () => queues.queued,

    /**
     * Takes a permit without `withPermit`'s steps. `onEnd` gets its release before anything waits; the caller must run it
     * however the work ends. Returns the wait that comes before the work, if there is one.
     */
    acquire: (
      keys: ReadonlyArray<string>,
      onEnd: (release: () => void) => void,
      { isUnbounded = false, timeout = limits.timeout }: WaitOptions = {}
    ): Effect.Effect<void, X> | undefined => {
      const grant = queues.tryTake(keys)
      if (grant !== undefined) {
        onEnd(() => queues.giveBack(grant))
        return undefined
      }
      const ticket = queues.enqueue(keys, isUnbounded, Duration.toMillis(timeout))
      if (ticket instanceof QueueFull) return Effect.fail(toError(ticket))
      onEnd(() => queues.leave(ticket))
      return Effect.mapError(waitFor(ticket), toError)
    },

    /** Does the work with a permit that is charged to each of the keys. */
    withPermit: <A, E, R>(
      keys: ReadonlyArray<string>,
      work: Effect.Effect<A, E, R>,
      { isUnbounded = false, timeout = limits.timeout }: WaitOptions = {}
    ): Effect.Effect<A, E | X, R> =>
      Effect.uninterruptibleMask((restore) => {
        const grant = queues.tryTake(keys)
        if (grant !== undefined) return thenLeave(restore(work), () => queues.giveBack(grant))
        const ticket = queues.enqueue(keys, isUnbounded, Duration.toMillis(timeout))
        if (ticket instanceof QueueFull) return Effect.fail(toError(ticket))
        const waitAndWork = Effect.zipRight(Effect.mapError(restore(waitFor(ticket)), toError), restore(work))
        return thenLeave(waitAndWork, () => queues.leave(ticket))
      })
  }
}
