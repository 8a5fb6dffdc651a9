import { Effect } from "effect"

/**
 * Lets timers and sockets run before the fiber continues. `Effect.yieldNow` only queues a microtask, which runs before
 * them.
 */
export const yieldToEventLoop = Effect.async<void>((resume) => {
  const immediate = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(immediate))
})
