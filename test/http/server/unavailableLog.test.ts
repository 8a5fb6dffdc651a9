import { SqlError } from "@effect/sql/SqlError"
import { Cause, Effect, Logger } from "effect"
import { afterEach, assert, beforeEach, describe, it, vi } from "vitest"
import { type ApiError, ServiceUnavailable, Unavailable } from "../../../src/domain/Errors.ts"
import { makeUnavailableLog } from "../../../src/http/server/response/UnavailableLog.ts"
import { toWireError } from "../../../src/http/server/response/WireErrors.ts"
import { noConnectionInTime } from "../../../src/layers/infra/postgres/connection/TransientErrors.ts"

describe("The log of unavailable services", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout"] }))
  afterEach(() => void vi.useRealTimers())

  const makeLog = () => {
    const lines: Array<string> = []
    const logger = Logger.map(Logger.logfmtLogger, (line) => void lines.push(line.replace(/^.*? message=/, "")))
    const logUnavailable = makeUnavailableLog()
    const log = (error: ApiError) =>
      Effect.runSync(
        Effect.provide(
          Effect.annotateLogs(logUnavailable(error), "request", 1),
          Logger.replace(Logger.defaultLogger, logger)
        )
      )
    return { lines, log }
  }

  it("names each reason at once, and then counts the other requests of each second", async () => {
    const { lines, log } = makeLog()
    for (let n = 0; n < 3; n++) log(Unavailable.because("the queue is full"))
    log(Unavailable.because("the document is too slow"))
    await vi.advanceTimersByTimeAsync(999)
    log(Unavailable.because("the queue is full"))
    assert.deepStrictEqual(lines.splice(0), [
      '"Unavailable: the queue is full" requests=1 request=1',
      '"Unavailable: the document is too slow" requests=1 request=1'
    ])
    await vi.advanceTimersByTimeAsync(1)
    assert.deepStrictEqual(lines.splice(0), ['"Unavailable: the queue is full" requests=3'])
    await vi.advanceTimersByTimeAsync(1000)
    log(Unavailable.because("the queue is full"))
    assert.deepStrictEqual(lines, ['"Unavailable: the queue is full" requests=1 request=1'])
  })

  it("names the connections of the database when a statement waited for one for too long", () => {
    const { lines, log } = makeLog()
    const cause = Cause.die(new SqlError({ cause: new Error(noConnectionInTime) }))
    log(Effect.runSync(toWireError(cause)))
    assert.deepStrictEqual(lines, [
      '"Unavailable: a statement waited for too long for a connection to the database" requests=1 request=1'
    ])
  })

  it("leaves out errors that are logged where they happen", () => {
    const { lines, log } = makeLog()
    log(new ServiceUnavailable())
    assert.isEmpty(lines)
  })
})
