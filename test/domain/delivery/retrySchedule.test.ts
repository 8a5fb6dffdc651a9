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

const moments = fc.integer({ min: 0, max: Date.parse("2100-01-01T00:00:00Z") })
const randoms = fc.double({ min: 0, max: 1, noNaN: true })
const done = fc.nat(retryDelaysMs.length - 1)

describe("the retry schedule", () => {
  it("is ten attempts over about three days", () => {
    const seconds = [0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]
    const told = seconds.map((_, attemptsInRound) => computeNextAttempt({ attemptsInRound, now, random: 0.5 }) ?? 0)
    assert.deepStrictEqual(
      told.map((at) => (at - now) / 1000),
      seconds
    )
    assert.isUndefined(computeNextAttempt({ attemptsInRound: seconds.length, now, random: 0.5 }))
  })

  it("stays within a fifth of each delay, whatever chance says", () => {
    fc.assert(
      fc.property(done, moments, randoms, (attemptsInRound, now, random) => {
        const waited = (computeNextAttempt({ attemptsInRound, now, random }) ?? 0) - now
        const delay = retryDelaysMs[attemptsInRound] ?? 0
        assert.isAtLeast(waited, delay * 0.8 - 1)
        assert.isAtMost(waited, delay * 1.2 + 1)
      })
    )
  })

  it("comes to an end, and Retry-After does not lengthen the round", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: retryDelaysMs.length, max: 1000 }),
        moments,
        randoms,
        (attemptsInRound, now, random) => {
          assert.isUndefined(computeNextAttempt({ attemptsInRound, now, random }))
          assert.isUndefined(computeNextAttempt({ attemptsInRound, now, random, retryAfter: now + hour }))
        }
      )
    )
  })

  it("never comes before Retry-After, nor later for it than by a day", () => {
    fc.assert(
      fc.property(done, moments, randoms, moments, (attemptsInRound, now, random, retryAfter) => {
        const usual = computeNextAttempt({ attemptsInRound, now, random }) ?? 0
        const next = computeNextAttempt({ attemptsInRound, now, random, retryAfter }) ?? 0
        const bounded = Math.min(retryAfter, now + maxRetryAfterMs)
        assert.isAtLeast(next, bounded)
        assert.strictEqual(next, Math.max(usual, bounded))
      })
    )
  })
})

describe("Retry-After", () => {
  it("is read in seconds, at most a day of them", () => {
    fc.assert(
      fc.property(fc.nat(10 ** 9), moments, (seconds, now) => {
        assert.strictEqual(parseRetryAfter(` ${seconds} `, now), now + Math.min(seconds * 1000, 24 * hour))
      })
    )
    assert.strictEqual(parseRetryAfter("9".repeat(400), now), now + 24 * hour)
  })

  it("is read as a date, to the second and at most a day ahead", () => {
    fc.assert(
      fc.property(moments, (moment) => {
        const written = new Date(moment).toUTCString()
        assert.strictEqual(parseRetryAfter(written, moment), moment - (moment % 1000))
        assert.strictEqual(parseRetryAfter(written, moment - 48 * hour), moment - 24 * hour)
      })
    )
  })

  it.each([["Sat, 14 Nov 2026 10:00:00 GMT"], ["Saturday, 14-Nov-26 10:00:00 GMT"], ["Sat Nov 14 10:00:00 2026"]])(
    "is read as %s",
    (written) => {
      assert.strictEqual(parseRetryAfter(written, now), Date.parse("2026-11-14T10:00:00Z"))
    }
  )

  it.each([[undefined], [""], ["-5"], ["1.5"], ["soon"], ["2026-11-14T10:00:00Z"], ["Sat, 99 Nov 2026 10:00:00 GMT"]])(
    "is nothing when it says %s",
    (written) => {
      assert.isUndefined(parseRetryAfter(written, now))
    }
  )

  it("is never a moment beyond reach, whatever it says", () => {
    fc.assert(
      fc.property(fc.string(), moments, (written, now) => {
        const read = parseRetryAfter(written, now)
        assert.isTrue(read === undefined || (Number.isFinite(read) && read <= now + maxRetryAfterMs))
      })
    )
  })
})
