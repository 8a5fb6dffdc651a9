import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { throttle } from "../../../../src/layers/infra/nats/Broker.ts"

describe("throttle", () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  const makeCounter = () => {
    let count = 0
    return { request: throttle(10, () => count++), count: () => count }
  }

  it("runs the action immediately if it has not run within the interval", () => {
    const { request, count } = makeCounter()
    request()
    expect(count()).toBe(1)
  })

  it("runs the action once at the end of the interval for all requests within it", () => {
    const { request, count } = makeCounter()
    request()
    request()
    vi.advanceTimersByTime(9)
    request()
    expect(count()).toBe(1)
    vi.advanceTimersByTime(1)
    expect(count()).toBe(2)
  })

  it("does not run the action without a request", () => {
    const { request, count } = makeCounter()
    request()
    vi.advanceTimersByTime(1000)
    expect(count()).toBe(1)
  })

  it("starts a new interval after a delayed run", () => {
    const { request, count } = makeCounter()
    request()
    request()
    vi.advanceTimersByTime(10)
    request()
    expect(count()).toBe(2)
    vi.advanceTimersByTime(10)
    expect(count()).toBe(3)
  })
})
