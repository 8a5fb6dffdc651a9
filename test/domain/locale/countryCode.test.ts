import { assert, describe, it } from "vitest"
import { CountryCode } from "../../../src/domain/locale/CountryCode.ts"
import { schemaErrorsOf } from "../../support/assertions/schemaErrors.ts"

const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"]

describe("CountryCode", () => {
  it("accepts the 249 officially assigned codes", () => {
    const codes = letters.flatMap((first) => letters.map((second) => first + second))
    assert.lengthOf(
      codes.filter((code) => schemaErrorsOf(CountryCode, code) === undefined),
      249
    )
  })

  it.each(["DE", "FR", "GB", "SS", "AX", "TW"])("accepts %s", (code) => {
    assert.isUndefined(schemaErrorsOf(CountryCode, code))
  })

  it.each(["", "de", "DEU", "276", "XX", "EU", "UK", "AN", "XK", "toString", "D"])("rejects '%s'", (code) => {
    assert.deepStrictEqual(schemaErrorsOf(CountryCode, code), [
      `body format: must be an ISO 3166-1 alpha-2 country code such as DE, but is "${code}"`
    ])
  })
})
