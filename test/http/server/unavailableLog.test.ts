import { Effect, Logger } from "effect"
import { afterEach, assert, beforeEach, describe, it, vi } from "vitest"
import { type ApiError, ServiceUnavailable, Unavailable } from "../../../src/domain/Errors.ts"
import { makeUnavailableLog } from "../../../src/http/server/response/UnavailableLog.ts"

describe("The log of unavailable services", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }))
  afterEach(() => void vi.useRealTimers())

  const makeLog = () => {
    const lines: Array<string> = []
    const logger = Logger.map(Logger.logfmtLogger, (line) => void lines.push(line.replace(/^.*? message=/, "")))
    const logUnavailable = makeUnavailableLog()
    const log = (error: ApiError) =>
      Effect.runSync(Effect.provide(logUnavailable(error), Logger.replace(Logger.defaultLogger, logger)))
    return { lines, log }
  }

  it("names each reason at once, and then once a second, with the number of requests", () => {
    const { lines, log } = makeLog()
    for (let n = 0; n < 3; n++) log(Unavailable.because("the queue is full"))
    log(Unavailable.because("the document is too slow"))
    vi.advanceTimersByTime(999)
    log(Unavailable.because("the queue is full"))
    vi.advanceTimersByTime(1)
    log(Unavailable.because("the queue is full"))
    assert.deepStrictEqual(lines, [
      '"Unavailable: the queue is full" requests=1',
      '"Unavailable: the document is too slow" requests=1',
      '"Unavailable: the queue is full" requests=4'
    ])
  })

  it("leaves out errors that are logged where they happen", () => {
    const { lines, log } = makeLog()
    log(new ServiceUnavailable())
    assert.isEmpty(lines)
  })
})
