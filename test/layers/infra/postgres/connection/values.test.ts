import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { toIso } from "../../../../../src/layers/infra/postgres/connection/Values.ts"

describe("timestamps", () => {
  it("come out in ISO 8601 with milliseconds", () => {
    assert.strictEqual(toIso("2026-11-14 09:30:00+00"), "2026-11-14T09:30:00.000Z")
    assert.strictEqual(toIso("2026-11-14 09:30:00.1+00"), "2026-11-14T09:30:00.100Z")
    assert.strictEqual(toIso("2026-11-14 09:30:00.123+00"), "2026-11-14T09:30:00.123Z")
    assert.strictEqual(toIso("2026-11-14 11:30:00.123+02"), "2026-11-14T09:30:00.123Z")
  })

  it("are what went in, for any moment", () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date("1970-01-01"), max: new Date("2999-12-31"), noInvalidDate: true }),
        (date) => {
          const seconds = date.toISOString().slice(0, 19).replace("T", " ")
          const fraction =
            date.getUTCMilliseconds() === 0
              ? ""
              : `.${String(date.getUTCMilliseconds()).padStart(3, "0").replace(/0+$/, "")}`
          assert.strictEqual(toIso(`${seconds}${fraction}+00`), date.toISOString())
        }
      ),
      { numRuns: 2000 }
    )
  })
})
