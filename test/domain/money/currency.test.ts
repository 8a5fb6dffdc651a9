import { data } from "currency-codes"
import { Schema } from "effect"
import { assert, describe, it } from "vitest"
import { CurrencyCode } from "../../../src/domain/money/Currency.ts"
import { currencyDecimals } from "../../../src/domain/money/CurrencyDecimals.ts"
import { schemaErrorsOf } from "../../support/assertions/schemaErrors.ts"

const nonMoney = ["XAG", "XAU", "XPD", "XPT", "XBA", "XBB", "XBC", "XBD", "XDR", "XSU", "XUA", "XTS", "XXX"]

describe("CurrencyCode", () => {
  it("accepts every ISO 4217 currency and no code that is no money", () => {
    const isCurrency = Schema.is(CurrencyCode)
    for (const { code } of data) assert.strictEqual(isCurrency(code), !nonMoney.includes(code), code)
    assert.isTrue(isCurrency("XCG"))
    for (const code of nonMoney) assert.isFalse(isCurrency(code), code)
  })

  it("tells what a currency code looks like", () => {
    for (const value of ["eur", "EURO", "ZZZ", ""])
      assert.deepStrictEqual(schemaErrorsOf(CurrencyCode, value), [
        `body currency: must be an ISO 4217 currency code such as EUR, but is "${value}"`
      ])
  })
})

describe("currencyDecimals", () => {
  it.each<[code: string, decimals: number]>([
    ["EUR", 2],
    ["JPY", 0],
    ["KWD", 3],
    ["CLF", 4],
    ["XCG", 2]
  ])("knows that %s has %i", (code, decimals) => {
    assert.strictEqual(currencyDecimals(code), decimals)
  })

  it("agrees with the list of ISO 4217 for every currency", () => {
    for (const { code, digits } of data)
      if (!nonMoney.includes(code)) assert.strictEqual(currencyDecimals(code), digits, code)
  })

  it("takes 2 for an unknown currency", () => {
    assert.strictEqual(currencyDecimals("ZZZ"), 2)
  })
})
