import { Effect } from "effect"

/** Fibers that wait for their turn, in order. */
const waiting = new Set<() => void>()
let isScheduled = false

const schedule = () => {
  isScheduled = true
  setImmediate(() => {
    isScheduled = false
    const [next] = waiting
    if (next === undefined) return
    waiting.delete(next)
    next()
    if (waiting.size > 0) schedule()
  })
}

/**
 * Lets timers and sockets run before the fiber continues. `Effect.yieldNow` only queues a microtask, which runs before
 * them. One fiber continues at a time: all immediates run in one go, so that others would wait for a slice of each long
 * request.
 */
export const yieldToEventLoop = Effect.async<void>((resume) => {
  const wake = () => resume(Effect.void)
  waiting.add(wake)
  if (!isScheduled) schedule()
  return Effect.sync(() => waiting.delete(wake))
})
