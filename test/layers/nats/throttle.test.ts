import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { throttle } from "../../../src/layers/nats/Throttle.ts"

describe("doing something with pauses", () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  const counting = () => {
    let count = 0
    return { ask: throttle(10, () => count++), count: () => count }
  }

  it("does it at once when it was not done lately", () => {
    const { ask, count } = counting()
    ask()
    expect(count()).toBe(1)
  })

  it("does what is asked for during a pause once, at its end", () => {
    const { ask, count } = counting()
    ask()
    ask()
    vi.advanceTimersByTime(9)
    ask()
    expect(count()).toBe(1)
    vi.advanceTimersByTime(1)
    expect(count()).toBe(2)
  })

  it("does nothing that nobody asked for", () => {
    const { ask, count } = counting()
    ask()
    vi.advanceTimersByTime(1000)
    expect(count()).toBe(1)
  })

  it("pauses after what it did at the end of a pause, too", () => {
    const { ask, count } = counting()
    ask()
    ask()
    vi.advanceTimersByTime(10)
    ask()
    expect(count()).toBe(2)
    vi.advanceTimersByTime(10)
    expect(count()).toBe(3)
  })
})
