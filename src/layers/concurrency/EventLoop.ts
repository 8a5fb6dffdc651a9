import { Effect } from "effect"

/** Lets timers and sockets run before the fiber goes on. `Effect.yieldNow` would only queue a microtask ahead of them. */
export const yieldToEventLoop = Effect.async<void>((resume) => {
  const turn = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(turn))
})
