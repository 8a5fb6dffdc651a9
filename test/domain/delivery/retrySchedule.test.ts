import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import {
  computeNextAttempt,
  maxRetryAfterMs,
  parseRetryAfter,
  retryDelaysMs
} from "../../../src/domain/delivery/RetrySchedule.ts"

const hour = 60 * 60 * 1000
const now = Date.parse("2026-11-14T09:30:00.000Z")

const times = fc.integer({ min: 0, max: Date.parse("2100-01-01T00:00:00Z") })
const randoms = fc.double({ min: 0, max: 1, noNaN: true })
const attempt = fc.nat(retryDelaysMs.length - 1)

describe("The retry schedule", () => {
  it("has ten attempts over about three days", () => {
    const seconds = [0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]
    const attempts = seconds.map((_, attemptsInRound) => computeNextAttempt({ attemptsInRound, now, random: 0.5 }) ?? 0)
    assert.deepStrictEqual(
      attempts.map((at) => (at - now) / 1000),
      seconds
    )
    assert.isUndefined(computeNextAttempt({ attemptsInRound: seconds.length, now, random: 0.5 }))
  })

  it("varies each delay by at most 20 %", () => {
    fc.assert(
      fc.property(attempt, times, randoms, (attemptsInRound, now, random) => {
        const actual = (computeNextAttempt({ attemptsInRound, now, random }) ?? 0) - now
        const delay = retryDelaysMs[attemptsInRound] ?? 0
        assert.isAtLeast(actual, delay * 0.8 - 1)
        assert.isAtMost(actual, delay * 1.2 + 1)
      })
    )
  })

  it("ends after the last delay, also with a Retry-After", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: retryDelaysMs.length, max: 1000 }),
        times,
        randoms,
        (attemptsInRound, now, random) => {
          assert.isUndefined(computeNextAttempt({ attemptsInRound, now, random }))
          assert.isUndefined(computeNextAttempt({ attemptsInRound, now, random, retryAfter: now + hour }))
        }
      )
    )
  })

  it("waits for Retry-After, at most a day", () => {
    fc.assert(
      fc.property(attempt, times, randoms, times, (attemptsInRound, now, random, retryAfter) => {
        const scheduled = computeNextAttempt({ attemptsInRound, now, random }) ?? 0
        const next = computeNextAttempt({ attemptsInRound, now, random, retryAfter }) ?? 0
        const bounded = Math.min(retryAfter, now + maxRetryAfterMs)
        assert.isAtLeast(next, bounded)
        assert.strictEqual(next, Math.max(scheduled, bounded))
      })
    )
  })
})

describe("parseRetryAfter", () => {
  it("parses seconds, at most a day", () => {
    fc.assert(
      fc.property(fc.nat(10 ** 9), times, (seconds, now) => {
        assert.strictEqual(parseRetryAfter(` ${seconds} `, now), now + Math.min(seconds * 1000, 24 * hour))
      })
    )
    assert.strictEqual(parseRetryAfter("9".repeat(400), now), now + 24 * hour)
  })

  it("parses a date to the second, at most a day ahead", () => {
    fc.assert(
      fc.property(times, (time) => {
        const header = new Date(time).toUTCString()
        assert.strictEqual(parseRetryAfter(header, time), time - (time % 1000))
        assert.strictEqual(parseRetryAfter(header, time - 48 * hour), time - 24 * hour)
      })
    )
  })

  it.each([["Sat, 14 Nov 2026 10:00:00 GMT"], ["Saturday, 14-Nov-26 10:00:00 GMT"], ["Sat Nov 14 10:00:00 2026"]])(
    "parses the date %s",
    (header) => {
      assert.strictEqual(parseRetryAfter(header, now), Date.parse("2026-11-14T10:00:00Z"))
    }
  )

  it.each([[undefined], [""], ["-5"], ["1.5"], ["soon"], ["2026-11-14T10:00:00Z"], ["Sat, 99 Nov 2026 10:00:00 GMT"]])(
    "ignores %s",
    (header) => {
      assert.isUndefined(parseRetryAfter(header, now))
    }
  )

  it("never returns a time more than a day ahead", () => {
    fc.assert(
      fc.property(fc.string(), times, (header, now) => {
        const retryAfter = parseRetryAfter(header, now)
        assert.isTrue(retryAfter === undefined || (Number.isFinite(retryAfter) && retryAfter <= now + maxRetryAfterMs))
      })
    )
  })
})
