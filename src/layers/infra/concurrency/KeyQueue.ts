import { Data } from "effect"
import type { KeyUsage } from "./KeyUsage.ts"

/** The queue of one of the keys is full, or the total of all queues is. */
export class QueueFull extends Data.TaggedError("QueueFull")<{ readonly scope: "key" | "all" }> {}

class QueueTimeout extends Data.TaggedError("QueueTimeout") {}

export type PermitRejection = QueueFull | QueueTimeout

/** Shared, because a new error captures a stack trace, which costs as much as the rest of a rejection. */
export const queueFull = { key: new QueueFull({ scope: "key" }), all: new QueueFull({ scope: "all" }) }
export const queueTimeout = new QueueTimeout()

/** A granted permit. */
export interface Permit {
  readonly usages: ReadonlyArray<KeyUsage>
  grantedAt: number
}

/** Work in a queue. A class, because every request of a busy service creates some. */
export class Ticket implements Permit {
  readonly queue: KeyQueue
  readonly isUnbounded: boolean
  readonly queuedAt: number
  readonly deadline: number
  grantedAt = 0
  state: "queued" | "granted" | "left" = "queued"
  /** Why it left the queue without a permit. */
  rejection: PermitRejection | undefined = undefined
  /** Called once, with the permit or the reason why there is none. */
  resume: (rejection?: PermitRejection) => void = () => {}
  previous: Ticket | undefined = undefined
  next: Ticket | undefined = undefined

  constructor(queue: KeyQueue, isUnbounded: boolean, queuedAt: number, timeoutMillis: number) {
    this.queue = queue
    this.isUnbounded = isUnbounded
    this.queuedAt = queuedAt
    this.deadline = queuedAt + timeoutMillis
  }

  get usages() {
    return this.queue.usages
  }
}

/** The queued work with the same keys, first in, first out: a linked list, since work leaves it anywhere. */
export class KeyQueue {
  readonly name: string
  readonly usages: ReadonlyArray<KeyUsage>
  first: Ticket | undefined = undefined
  last: Ticket | undefined = undefined

  constructor(name: string, usages: ReadonlyArray<KeyUsage>) {
    this.name = name
    this.usages = usages
  }

  add(ticket: Ticket) {
    ticket.previous = this.last
    if (this.last === undefined) this.first = ticket
    else this.last.next = ticket
    this.last = ticket
  }

  /** Clears the links: a removed ticket in the old space would keep all tickets after it alive in each scavenge. */
  remove(ticket: Ticket) {
    const { next, previous } = ticket
    if (previous === undefined) this.first = next
    else previous.next = next
    if (next === undefined) this.last = previous
    else next.previous = previous
    ticket.next = undefined
    ticket.previous = undefined
  }

  /** The walk can remove the ticket at which it is. */
  *[Symbol.iterator]() {
    for (let ticket = this.first; ticket !== undefined; ) {
      const { next } = ticket
      yield ticket
      ticket = next
    }
  }
}
