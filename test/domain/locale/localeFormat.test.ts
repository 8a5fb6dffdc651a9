import { assert, describe, it } from "vitest"
import { languages } from "../../../src/domain/locale/Language.ts"
import {
  formatLocalAmount,
  formatLocalDate,
  formatLocalMoney,
  formatLocalNumber,
  makeDayFormat
} from "../../../src/domain/locale/LocaleFormat.ts"

describe("A language", () => {
  it("writes amounts with its separators", () => {
    assert.deepStrictEqual(
      languages.map((language) => formatLocalMoney(-123_456_789, "EUR", language)),
      ["-1,234,567.89 EUR", "-1.234.567,89 EUR", "-1\u202f234\u202f567,89 EUR"]
    )
    assert.strictEqual(formatLocalAmount(1234, "JPY", "de"), "1.234")
  })

  it("writes quantities and percentages with all their decimals", () => {
    assert.deepStrictEqual(
      languages.map((language) => formatLocalNumber(7.125, language)),
      ["7.125", "7,125", "7,125"]
    )
    assert.deepStrictEqual(
      languages.map((language) => formatLocalNumber(-1234567.25, language)),
      ["-1,234,567.25", "-1.234.567,25", "-1\u202f234\u202f567,25"]
    )
  })

  it("writes the day of a timestamp in the time zone", () => {
    assert.deepStrictEqual(
      languages.map((language) => formatLocalDate("2026-12-14T23:30:00.000Z", "Europe/Berlin", language)),
      ["15 December 2026", "15. Dezember 2026", "15 décembre 2026"]
    )
  })

  it("writes many days in a short form", () => {
    assert.deepStrictEqual(
      languages.map((language) => makeDayFormat(language, "Europe/Berlin")("2026-12-14T23:30:00.000Z")),
      ["15 Dec 2026", "15.12.2026", "15 déc. 2026"]
    )
  })
})
