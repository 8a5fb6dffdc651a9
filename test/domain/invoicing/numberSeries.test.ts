import { Schema } from "effect"
import { assert, describe, it } from "vitest"
import {
  continueWith,
  defaultNumberPatterns,
  formatNumber,
  NumberPattern,
  newCounter,
  numberingPeriod,
  seriesIdOf,
  yearAround,
  yearAroundHours
} from "../../../src/domain/invoicing/NumberSeries.ts"
import { localDateOf } from "../../../src/domain/locale/TimeZone.ts"
import { assertPasses, messagesOf } from "../../support/assertions/decisions.ts"
import { schemaErrorsOf } from "../../support/assertions/schemaErrors.ts"
import { caseCount } from "../../support/caseCount.ts"

const issuedAt = "2026-11-14T09:30:00.000Z"

describe("NumberPattern", () => {
  const isPattern = Schema.is(NumberPattern)

  it.each([
    ...Object.values(defaultNumberPatterns),
    "{seq}",
    "{seq:1}",
    "{seq:9}",
    "{seq:10}",
    "{seq:19}",
    "{seq:20}",
    "{year}/{seq}/{year}",
    "No. {seq} of {year}"
  ])("accepts %s", (pattern) => {
    assert.isTrue(isPattern(pattern))
  })

  it.each([
    "{year}",
    "INV-1",
    "{seq}{seq}",
    "{seq}-{seq:3}",
    "{seq:0}",
    "{seq:21}",
    "{seq:100}",
    "{seq:}",
    "{seq:x}",
    "{SEQ}-",
    "{seq}}",
    "{{seq}",
    "{seq}{month}",
    "{seq}-{",
    "{seq}-}"
  ])("rejects %s", (pattern) => {
    assert.deepStrictEqual(schemaErrorsOf(NumberPattern, pattern), [
      "body pattern: must contain {seq} or {seq:1} to {seq:20} once, {year} if numbers restart every year, " +
        `and no other braces, but is "${pattern}"`
    ])
  })

  it("accepts 5 to 60 characters", () => {
    assert.isTrue(isPattern(`{seq}${"-".repeat(55)}`))
    assert.isFalse(isPattern(`{seq}${"-".repeat(56)}`))
  })
})

describe("numberingPeriod", () => {
  it("is the year of issue for a pattern with {year}, else all", () => {
    assert.strictEqual(numberingPeriod(defaultNumberPatterns.invoice, issuedAt), "2026")
    assert.strictEqual(numberingPeriod("INV-{seq}", issuedAt), "all")
  })
})

describe("yearAround", () => {
  it.each<[now: string, year: string | undefined]>([
    ["2026-11-14T09:30:00.000Z", "2026"],
    ["2026-12-30T21:59:59.999Z", "2026"],
    ["2026-12-30T22:00:00.000Z", undefined],
    ["2027-01-01T00:00:00.000Z", undefined],
    ["2027-01-02T01:59:59.999Z", undefined],
    ["2027-01-02T02:00:00.000Z", "2027"]
  ])("at %s is %s", (now, year) => {
    assert.strictEqual(yearAround(new Date(now)), year)
  })

  it("is the local year in every time zone for half a day", () => {
    const zones = Intl.supportedValuesOf("timeZone")
    for (let hour = 0; hour < 24 * 8; hour += caseCount(7, 1)) {
      const now = Date.parse("2026-12-28T00:00:00.000Z") + hour * 3_600_000
      const year = yearAround(new Date(now))
      if (year === undefined) continue
      for (const moment of [now - yearAroundHours * 3_600_000, now + yearAroundHours * 3_600_000])
        for (const zone of zones)
          assert.strictEqual(localDateOf(new Date(moment).toISOString(), zone).slice(0, 4), year)
    }
  })
})

describe("formatNumber", () => {
  it.each<[pattern: string, seq: number, number: string]>([
    [defaultNumberPatterns.invoice, 42, "INV-2026-000042"],
    [defaultNumberPatterns.credit_note, 7, "CN-2026-000007"],
    ["{seq}", 7, "7"],
    ["{seq:1}", 10, "10"],
    ["{seq:3}", 1234, "1234"],
    ["{seq:12}", 5, "000000000005"],
    ["{year}-{seq}/{year}", 5, "2026-5/2026"]
  ])("fills %s with %i as %s", (pattern, seq, number) => {
    assert.strictEqual(formatNumber(pattern, issuedAt, seq), number)
  })
})

describe("seriesIdOf", () => {
  it("replaces the prefix of the tenant and nothing else", () => {
    assert.strictEqual(seriesIdOf("invoice", "tnt_abc"), "ser_abc")
    assert.strictEqual(seriesIdOf("credit_note", "tnt_abc"), "cns_abc")
    assert.strictEqual(seriesIdOf("invoice", "x_tnt_abc"), "x_tnt_abc")
  })
})

describe("continueWith", () => {
  it("continues a series from elsewhere before its first number", () => {
    assertPasses(continueWith(newCounter, 118, "2026"), { start: 118, last: 117 })
    assertPasses(continueWith(newCounter, 1, "2026"), { start: 1, last: 0 })
    assertPasses(continueWith({ start: 118, last: 117 }, 200, "2026"), { start: 200, last: 199 })
  })

  it("only goes up", () => {
    assert.deepStrictEqual(messagesOf(continueWith({ start: 118, last: 117 }, 117, "2026")), [
      "next min: must be at least 118, because the counter only goes up, but is 117"
    ])
  })

  it("keeps a counter that has given a number", () => {
    assert.deepStrictEqual(messagesOf(continueWith({ start: 118, last: 118 }, 200, "2026")), [
      "next state: can only be set before the first number, but the period 2026 has numbers"
    ])
    assert.deepStrictEqual(messagesOf(continueWith({ start: 1, last: 3 }, 200, "all")), [
      "next state: can only be set before the first number, but the series has numbers"
    ])
  })
})
