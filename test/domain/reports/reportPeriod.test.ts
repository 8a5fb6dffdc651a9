import { Either } from "effect"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { addDays, localDateOf, startOfLocalDay } from "../../../src/domain/locale/TimeZone.ts"
import { monthsOf, passedBoundary, requireDay, requirePeriod } from "../../../src/domain/reports/ReportPeriod.ts"

const now = "2026-11-17T23:30:00.000Z"
const clockIn = (timeZone: string) => ({ now, timeZone })

/** Clocks change at midnight in Cairo, Havana and Beirut. */
const zones = [
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "Africa/Cairo",
  "America/Havana",
  "Asia/Beirut",
  "Asia/Tokyo"
]
const anyZone = fc.constantFrom(...zones)
const anyDay = fc.integer({ min: 0, max: 20_000 }).map((days) => addDays("1990-01-01", days))

const oneMillisecondBefore = (moment: string) => new Date(Date.parse(moment) - 1).toISOString()

const errorOf = (result: Either.Either<unknown, { readonly details?: ReadonlyArray<object> }>) =>
  Either.isLeft(result) ? result.left.details : undefined

describe("startOfLocalDay", () => {
  it("is the first moment of the day in every time zone", () => {
    fc.assert(
      fc.property(anyDay, anyZone, (day, zone) => {
        const start = startOfLocalDay(day, zone)
        assert.strictEqual(localDateOf(start, zone), day)
        assert.strictEqual(localDateOf(oneMillisecondBefore(start), zone), addDays(day, -1))
      })
    )
  })

  it("is one o'clock where clocks skip midnight, and the first midnight where they repeat it", () => {
    assert.strictEqual(startOfLocalDay("2024-04-26", "Africa/Cairo"), "2024-04-25T22:00:00.000Z")
    assert.strictEqual(startOfLocalDay("2026-11-01", "America/Havana"), "2026-11-01T04:00:00.000Z")
  })
})

describe("requirePeriod", () => {
  it("is the month so far without days", () => {
    assert.deepStrictEqual(Either.getOrThrow(requirePeriod({}, clockIn("Europe/Berlin"))), {
      from: "2026-11-01",
      to: "2026-11-18",
      start: "2026-10-31T23:00:00.000Z",
      end: "2026-11-18T23:00:00.000Z"
    })
    assert.deepInclude(Either.getOrThrow(requirePeriod({}, clockIn("UTC"))), { to: "2026-11-17" })
  })

  it("starts with the month of its last day without a first one", () => {
    const { from } = Either.getOrThrow(requirePeriod({ to: "2025-02-10" }, clockIn("UTC")))
    assert.strictEqual(from, "2025-02-01")
  })

  it("covers both of its days, and periods of days that follow each other share a boundary", () => {
    fc.assert(
      fc.property(anyDay, fc.nat(3000), anyZone, (from, days, zone) => {
        const to = addDays(from, days)
        const { end, start } = Either.getOrThrow(requirePeriod({ from, to }, clockIn(zone)))
        const day = addDays(to, 1)
        const next = Either.getOrThrow(requirePeriod({ from: day, to: day }, clockIn(zone)))
        assert.deepStrictEqual([localDateOf(start, zone), localDateOf(oneMillisecondBefore(end), zone)], [from, to])
        assert.strictEqual(next.start, end)
      })
    )
  })

  it("rejects a last day before the first, and more than ten years", () => {
    const periodOf = (from: string, to: string) => errorOf(requirePeriod({ from, to }, clockIn("UTC")))
    assert.deepStrictEqual(periodOf("2026-02-02", "2026-02-01"), [
      { field: "from", constraint: "max", message: 'must be 2026-02-01 or earlier, but is "2026-02-02"' }
    ])
    assert.isUndefined(periodOf("2016-03-01", "2026-02-28"))
    assert.deepStrictEqual(periodOf("2016-03-01", "2026-03-01"), [
      { field: "to", constraint: "max", message: 'must be 2026-02-28 or earlier, but is "2026-03-01"' }
    ])
  })
})

describe("requireDay", () => {
  it("is today in the time zone without a day", () => {
    assert.deepInclude(Either.getOrThrow(requireDay(undefined, clockIn("UTC"))), {
      from: "2026-11-17",
      to: "2026-11-17"
    })
    assert.deepInclude(Either.getOrThrow(requireDay(undefined, clockIn("Asia/Tokyo"))), { to: "2026-11-18" })
  })

  it("rejects a day in the future", () => {
    assert.deepStrictEqual(errorOf(requireDay("2026-11-18", clockIn("UTC"))), [
      { field: "asOf", constraint: "max", message: 'must be 2026-11-17 or earlier, but is "2026-11-18"' }
    ])
    assert.isUndefined(errorOf(requireDay("2026-11-18", clockIn("Asia/Tokyo"))))
  })
})

describe("passedBoundary", () => {
  const period = Either.getOrThrow(requirePeriod({ from: "2026-11-17", to: "2026-11-17" }, clockIn("UTC")))

  it("is the end, the start, or nothing, as time passes", () => {
    assert.strictEqual(passedBoundary(period, "2026-11-18T00:00:00.000Z"), period.end)
    assert.strictEqual(passedBoundary(period, now), period.start)
    assert.isUndefined(passedBoundary(period, "2026-11-16T23:59:59.999Z"))
  })
})

describe("monthsOf", () => {
  it("lists the months that a period touches", () => {
    const period = Either.getOrThrow(requirePeriod({ from: "2026-01-31", to: "2026-03-01" }, clockIn("Europe/Berlin")))
    assert.deepStrictEqual(monthsOf(period, "Europe/Berlin"), [
      { month: "2026-01", start: "2025-12-31T23:00:00.000Z" },
      { month: "2026-02", start: "2026-01-31T23:00:00.000Z" },
      { month: "2026-03", start: "2026-02-28T23:00:00.000Z" }
    ])
  })

  it("has the month of every day of the period", () => {
    fc.assert(
      fc.property(anyDay, fc.nat(400), fc.nat(400), (from, days, offset) => {
        const period = Either.getOrThrow(requirePeriod({ from, to: addDays(from, days) }, clockIn("UTC")))
        const day = addDays(from, offset % (days + 1))
        const months = monthsOf(period, "UTC").map(({ month }) => month)
        assert.include(months, day.slice(0, 7))
        assert.strictEqual(new Set(months).size, months.length)
      })
    )
  })
})
