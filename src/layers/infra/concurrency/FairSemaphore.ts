import { Duration, Effect } from "effect"
import { type FairQueueLimits, FairQueues } from "./FairQueues.ts"
import { type PermitRejection, QueueFull, type Ticket } from "./KeyQueue.ts"

export interface FairSemaphoreLimits extends FairQueueLimits {
  /** Default time that work waits for a permit. */
  readonly timeout: Duration.DurationInput
}

/** Work that holds permits until it ends. */
export interface PermitOwner {
  onEnd(release: () => void): void
}

export interface AcquireOptions {
  readonly timeout?: Duration.DurationInput
  /** Ignores the queue limits and is never evicted. The caller must bound this work in another way. */
  readonly isUnbounded?: boolean
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
      if (ticket.rejection !== undefined) return resume(Effect.fail(ticket.rejection))
      ticket.resume = (rejection) => resume(rejection === undefined ? Effect.void : Effect.fail(rejection))
    })

  const enqueue = (keys: ReadonlyArray<string>, isUnbounded: boolean, timeout: Duration.DurationInput) =>
    isUnbounded ? queues.enqueue(keys, Duration.toMillis(timeout)) : queues.tryEnqueue(keys, Duration.toMillis(timeout))

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
    isStanding: () => queues.isStanding,

    /**
     * Takes a permit at a lower cost than `withPermit`. It passes the release to `onEnd` before any wait; the owner must
     * run the release however the work ends. Returns the wait to run before the work, or undefined.
     */
    acquire: (
      keys: ReadonlyArray<string>,
      owner: PermitOwner,
      { isUnbounded = false, timeout = limits.timeout }: AcquireOptions = {}
    ): Effect.Effect<void, X> | undefined => {
      const permit = queues.tryTake(keys)
      if (permit !== undefined) {
        owner.onEnd(() => queues.release(permit))
        return undefined
      }
      const ticket = enqueue(keys, isUnbounded, timeout)
      if (ticket instanceof QueueFull) return Effect.fail(toError(ticket))
      owner.onEnd(() => queues.leave(ticket))
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
        const ticket = enqueue(keys, isUnbounded, timeout)
        if (ticket instanceof QueueFull) return Effect.fail(toError(ticket))
        const waitAndWork = Effect.zipRight(Effect.mapError(restore(waitFor(ticket)), toError), restore(work))
        return thenRelease(waitAndWork, () => queues.leave(ticket))
      })
  }
}
