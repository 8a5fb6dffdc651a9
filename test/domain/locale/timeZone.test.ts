import { DateTime } from "effect"
import { assert, describe, it } from "vitest"
import { addLocalDays, LocalDate, localDateOf, TimeZone } from "../../../src/domain/locale/TimeZone.ts"
import { schemaErrorsOf } from "../../support/assertions/schemaErrors.ts"

describe("TimeZone", () => {
  it.each(["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Asia/Tokyo"])("accepts %s", (name) => {
    assert.isUndefined(schemaErrorsOf(TimeZone, name))
  })

  it.each(["", "Berlin", "Mars/Olympus", "+02:00", "-01:00", "Europe/Berlin ", "<b>"])("rejects '%s'", (name) => {
    assert.deepStrictEqual(schemaErrorsOf(TimeZone, name), [
      `body format: must be an IANA time zone such as Europe/Berlin, but is "${name}"`
    ])
  })
})

describe("LocalDate", () => {
  it.each(["0001-01-01", "2024-02-29", "2026-11-14", "9999-12-31"])("accepts %s", (day) => {
    assert.isUndefined(schemaErrorsOf(LocalDate, day))
  })

  // PostgreSQL has no year 0.
  it.each(["", "0000-01-01", "2026-02-29", "2026-13-01", "2026-1-1", "2026-11-14T00:00:00Z"])("rejects '%s'", (day) => {
    assert.deepStrictEqual(schemaErrorsOf(LocalDate, day), [
      `body format: must be a date such as 2026-11-14, but is "${day}"`
    ])
  })
})

describe("localDateOf", () => {
  it("is the day in the time zone", () => {
    const newYear = "2026-12-31T23:30:00.000Z"
    assert.strictEqual(localDateOf(newYear, "UTC"), "2026-12-31")
    assert.strictEqual(localDateOf(newYear, "Europe/Berlin"), "2027-01-01")
    assert.strictEqual(localDateOf(newYear, "America/New_York"), "2026-12-31")
    assert.strictEqual(localDateOf(newYear, "Pacific/Kiritimati"), "2027-01-01")
  })

  it.each(["UTC", "Europe/Berlin", "America/St_Johns", "Pacific/Apia"])(
    "is what DateTime says of every year in %s",
    (zone) => {
      for (let year = 1; year <= 9998; year += 37) {
        const timestamp = `${String(year).padStart(4, "0")}-12-31T${String(year % 24).padStart(2, "0")}:30:00.000Z`
        const expected = DateTime.formatIsoDate(DateTime.unsafeMakeZoned(timestamp, { timeZone: zone }))
        assert.strictEqual(localDateOf(timestamp, zone), expected, timestamp)
      }
    }
  )
})

describe("addLocalDays", () => {
  it("keeps the time of day when clocks change", () => {
    assert.strictEqual(addLocalDays("2026-10-24T10:00:00.000Z", 1, "Europe/Berlin"), "2026-10-25T11:00:00.000Z")
    assert.strictEqual(addLocalDays("2026-10-24T10:00:00.000Z", 1, "UTC"), "2026-10-25T10:00:00.000Z")
  })
})
