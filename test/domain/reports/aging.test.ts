import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { addDays, startOfLocalDay } from "../../../src/domain/locale/TimeZone.ts"
import { overdueSince } from "../../../src/domain/reports/Aging.ts"

const bucketOf = (asOf: string, dueAt: string, timeZone: string) =>
  overdueSince(asOf, timeZone)
    .filter(({ dueBefore }) => dueAt < dueBefore)
    .at(-1)?.bucket ?? "notDueMinor"

const expectedFor = (days: number) => {
  if (days < 1) return "notDueMinor"
  if (days <= 30) return "days1To30Minor"
  if (days <= 60) return "days31To60Minor"
  return days <= 90 ? "days61To90Minor" : "over90Minor"
}

describe("overdueSince", () => {
  it("separates the buckets by days between the due day and the day of the report, in every time zone", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -5, max: 130 }),
        fc.constantFrom("UTC", "Europe/Berlin", "America/New_York", "Africa/Cairo"),
        fc.nat(22 * 3600 * 1000),
        (days, zone, time) => {
          const asOf = "2026-05-10"
          const dueDay = Date.parse(startOfLocalDay(addDays(asOf, -days), zone))
          assert.strictEqual(bucketOf(asOf, new Date(dueDay + time).toISOString(), zone), expectedFor(days))
        }
      )
    )
  })

  it("counts an invoice as not due until the end of the day that it is due on", () => {
    assert.strictEqual(bucketOf("2026-05-10", "2026-05-10T00:00:00.000Z", "UTC"), "notDueMinor")
    assert.strictEqual(bucketOf("2026-05-11", "2026-05-10T23:59:59.999Z", "UTC"), "days1To30Minor")
  })
})
