import { Cause, Effect, Either, FiberSet } from "effect"
import type { JsMsg } from "nats"
import { type EventKey, FanOut, type FanOutLimits, fanOutLimits } from "../../layers/delivery/FanOut.ts"
import { asking, Broker } from "../../layers/nats/Broker.ts"
import { isConnectionBroken, isLockTimeout } from "../../layers/postgres/connection/Outage.ts"
import { forEver } from "../ForEver.ts"
import { keyOf, retryLater } from "../Messages.ts"
import { makeTenantQueues, type Turn } from "../TenantQueues.ts"
import { type Bell, makeBell } from "../Wakes.ts"
import { makeBacklog } from "./FanOutBacklog.ts"

const maxFetched = 500
const fetchMillis = 2000
const pollMillis = 500
const sweepEvery = "10 seconds"

/** In memory, of one tenant and of all. */
const maxWaitingEach = 200
const maxWaiting = 2000

const maxTenants = 100
/** Tenants whose events failed are worked apart from others, so many at a time. */
const maxApart = 2

interface Arrived extends EventKey {
  /** An event found in the database has none. */
  readonly message?: JsMsg
}

const postpone = ({ message }: Arrived) => {
  if (message !== undefined) retryLater(message)
}

/**
 * Fans events out as the broker brings them. Tenants take turns. A batch that fails is split by tenant, and a tenant's
 * own in halves, until what fails is alone; it is tried again later. The messages are hints: what gets lost or is let
 * go is found in the database.
 */
export const fanOut = (bell: Bell, limits: FanOutLimits = fanOutLimits) =>
  Effect.gen(function* () {
    const broker = yield* Broker
    const ledger = yield* FanOut
    const backlog = yield* makeBacklog
    const arrivals = yield* makeBell
    const queues = makeTenantQueues<Arrived>(maxWaitingEach)
    const fork = yield* FiberSet.makeRuntime<never, void, never>()
    const oneOfFew = (yield* Effect.makeSemaphore(maxApart)).withPermits(1)
    const suspects = new Set<string>()
    const apart = new Set<string>()
    const { events } = broker.names

    const take = (message: JsMsg) =>
      Either.match(keyOf(message.string()), {
        onLeft: () => message.term(), // nothing of ours, and no better the next time
        onRight: (key) => {
          if (queues.offer(key.tenant, { ...key, message })) return
          message.ack()
          backlog.note(key.tenant)
        }
      })

    /** Asks for more for a little while. Asking anew each time gets over whatever became of the broker meanwhile. */
    const fetch = Effect.gen(function* () {
      const room = maxWaiting - queues.size()
      if (room <= 0) return yield* Effect.sleep("10 millis")
      const jetstream = yield* broker.jetstream
      yield* asking(async () => {
        const consumer = await jetstream.consumers.get(events.stream, events.fanOut)
        const messages = await consumer.fetch({ max_messages: Math.min(room, maxFetched), expires: fetchMillis })
        for await (const message of messages) {
          take(message)
          arrivals.ring()
        }
      })
    })

    const attempt = (turns: ReadonlyArray<Turn<Arrived>>) =>
      Effect.map(
        ledger.fanOut(
          turns.flatMap(({ items }) => items.map(({ id, tenant }) => ({ id, tenant }))),
          limits
        ),
        ({ done, entered, moved }) => {
          for (const { items, tenant } of turns) {
            const left = items.filter(({ id }) => !done.has(id))
            if (moved.has(tenant)) queues.putBack(tenant, left)
            else left.forEach(postpone)
            for (const { id, message } of items) if (done.has(id)) message?.ack()
          }
          if (entered > 0) bell.ring()
        }
      )

    /** Tells whether nothing failed. */
    const isolate = ({ items, tenant }: Turn<Arrived>): Effect.Effect<boolean> =>
      attempt([{ tenant, items }]).pipe(
        Effect.as(true),
        Effect.catchAllCause((cause) => {
          const error = Cause.squash(cause)
          if (items.length > 1 && !isConnectionBroken(error) && !isLockTimeout(error)) {
            const half = Math.ceil(items.length / 2)
            const parts = [items.slice(0, half), items.slice(half)]
            return Effect.map(
              Effect.forEach(parts, (part) => isolate({ tenant, items: part })),
              (results) => results.every((isFine) => isFine)
            )
          }
          items.forEach(postpone)
          const ids = items.map(({ id }) => id).join(", ")
          return Effect.as(
            Effect.logWarning(`Events could not be fanned out, and are tried again: ${ids}`, cause),
            false
          )
        })
      )

    const workApart = (turn: Turn<Arrived>) => {
      apart.add(turn.tenant)
      fork(
        Effect.map(oneOfFew(isolate(turn)), (isFine) => {
          apart.delete(turn.tenant)
          if (isFine) suspects.delete(turn.tenant)
          arrivals.ring()
        })
      )
    }

    const workTogether = (turns: ReadonlyArray<Turn<Arrived>>) =>
      Effect.catchAllCause(attempt(turns), (cause) => {
        if (isConnectionBroken(Cause.squash(cause))) {
          for (const { items } of turns) items.forEach(postpone)
          return Effect.failCause(cause)
        }
        for (const turn of turns) {
          suspects.add(turn.tenant)
          workApart(turn)
        }
        return Effect.logDebug("Events could not be fanned out together", cause)
      })

    /** Reads on for one tenant that has nothing in its queue. */
    const readBacklog = Effect.map(
      backlog.next(maxWaitingEach, (tenant) => !queues.isWaiting(tenant) && !apart.has(tenant)),
      (keys) => keys.filter((key) => queues.offer(key.tenant, key)).length > 0
    )

    const work = Effect.gen(function* () {
      const isMore = yield* readBacklog
      const turns = queues.take(maxTenants, limits.maxEvents, (tenant) => apart.has(tenant))
      if (turns.length === 0) return isMore ? undefined : yield* arrivals.wait(pollMillis)
      turns.filter(({ tenant }) => suspects.has(tenant)).forEach(workApart)
      const others = turns.filter(({ tenant }) => !suspects.has(tenant))
      if (others.length > 0) yield* workTogether(others)
    })

    const sweep = Effect.zipRight(
      Effect.tap(backlog.sweep, () => Effect.sync(arrivals.ring)),
      Effect.sleep(sweepEvery)
    )

    yield* Effect.forkScoped(forEver("Fanning events out", work))
    yield* Effect.forkScoped(forEver("Asking the broker for events", fetch))
    yield* Effect.forkScoped(forEver("Looking for events that wait", sweep))
  })
