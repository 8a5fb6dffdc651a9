import { Data, Effect } from "effect"

/** Too many came before, and took too long. */
export class Crowded extends Data.TaggedError("Crowded") {}

interface Ticket {
  holds: boolean
  go: () => void
}

interface Lane {
  free: number
  readonly waiting: Set<Ticket>
}

/** The place of one who leaves goes to whoever has waited longest. */
const passOn = (lane: Lane) => {
  const [next] = lane.waiting
  if (next === undefined) {
    lane.free++
    return
  }
  lane.waiting.delete(next)
  next.holds = true
  next.go()
}

const enter = (lane: Lane): Ticket => {
  const ticket = { holds: lane.free > 0, go: () => {} }
  if (ticket.holds) lane.free--
  else lane.waiting.add(ticket)
  return ticket
}

const turn = (ticket: Ticket, patienceMs: number) =>
  Effect.async<void, Crowded>((resume) => {
    const timer = setTimeout(() => resume(Effect.fail(new Crowded())), patienceMs)
    ticket.go = () => {
      clearTimeout(timer)
      resume(Effect.void)
    }
    if (ticket.holds) ticket.go()
    return Effect.sync(() => clearTimeout(timer))
  })

/**
 * Lets only so many do something at once in each lane. Whoever gives up waiting is gone from the line at once, which the
 * line of a pool of connections cannot do: for a place that never answers it would grow for ever. A semaphore would wake
 * everyone who waits each time one leaves, and could take most of the time.
 */
export const makeLanes = (width: number) => {
  const lanes = new Map<string, Lane>()

  const enterNamed = (name: string) => {
    const lane = lanes.get(name) ?? { free: width, waiting: new Set() }
    lanes.set(name, lane)
    return { lane, ticket: enter(lane) }
  }

  const leave = (name: string, lane: Lane, ticket: Ticket) => {
    if (ticket.holds) passOn(lane)
    else lane.waiting.delete(ticket)
    if (lane.free === width) lanes.delete(name)
  }

  return <A, E, R>(name: string, patienceMs: number, work: Effect.Effect<A, E, R>) =>
    Effect.acquireUseRelease(
      Effect.sync(() => enterNamed(name)),
      ({ ticket }) => (ticket.holds ? work : Effect.zipRight(turn(ticket, patienceMs), work)),
      ({ lane, ticket }) => Effect.sync(() => leave(name, lane, ticket))
    )
}
