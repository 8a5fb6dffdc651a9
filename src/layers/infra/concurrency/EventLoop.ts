import { Context, Effect } from "effect"
import { RequestShare } from "./RequestShare.ts"

/** Fibers that wait for their turn, in order, by the first key of their share. The next key comes first. */
const waiting = new Map<string, Set<() => void>>()
let isScheduled = false

const takeNext = () => {
  for (const [key, wakes] of waiting) {
    waiting.delete(key)
    for (const wake of wakes) {
      wakes.delete(wake)
      if (wakes.size > 0) waiting.set(key, wakes)
      return wake
    }
  }
  return undefined
}

const schedule = () => {
  if (isScheduled) return
  isScheduled = true
  setImmediate(() => {
    isScheduled = false
    const wake = takeNext()
    if (waiting.size > 0) schedule()
    wake?.()
  })
}

const waitAs = (key: string) =>
  Effect.async<void>((resume) => {
    const wake = () => resume(Effect.void)
    const wakes = waiting.get(key) ?? new Set()
    waiting.set(key, wakes.add(wake))
    schedule()
    return Effect.sync(() => wakes.delete(wake))
  })

/**
 * Lets timers and sockets run before the fiber continues. `Effect.yieldNow` only queues a microtask, which runs before
 * them. One fiber continues at a time, and callers take turns: all immediates run in one go, so that others would wait for
 * a slice of each long request.
 */
export const yieldToEventLoop = Effect.withFiberRuntime<void>((fiber) => {
  const [key = ""] = Context.get(fiber.currentContext, RequestShare).keys
  return waitAs(key)
})

/** The work on so many rows, or on a text of so many bytes, can take long. Requests do it in turns. */
export const longWorkRows = 500
export const longWorkBytes = 64 * 1024

export const yieldIfLong = (rows: number) => (rows < longWorkRows ? Effect.void : yieldToEventLoop)
export const yieldIfLongText = (text: unknown) =>
  typeof text === "string" && text.length >= longWorkBytes ? yieldToEventLoop : Effect.void
