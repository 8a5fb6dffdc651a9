import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { formatAmount } from "../../../src/domain/money/AmountFormat.ts"
import { parseAmount, parseNumber } from "../../../src/domain/money/AmountParser.ts"

describe("parseNumber", () => {
  it.each<[text: string, number: string | undefined]>([
    ["12", "12"],
    ["1,234.50", "1234.50"],
    ["1.234,50", "1234.50"],
    ["1 234,5", "1234.5"],
    ["1'234.5", "1234.5"],
    ["1.234.567", "1234567"],
    ["1,234", "1234"],
    ["1,23", "1.23"],
    ["1.234", "1.234"],
    ["-.5", "-0.5"],
    ["−3", "-3"],
    ["+4.", "4"],
    ["", undefined],
    ["12 apples", undefined],
    ["1.2.3,4,5", undefined],
    ["0x10", undefined],
    ["1e5", undefined]
  ])("reads %j as %j", (text, number) => {
    assert.strictEqual(parseNumber(text), number)
  })
})

describe("parseAmount", () => {
  it.each(["JPY", "EUR", "KWD", "CLF"])("reads back every formatted amount in %s", (currency) => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (amountMinor) => {
        const plain = formatAmount(amountMinor, currency).replaceAll(",", "")
        assert.strictEqual(parseAmount(plain, currency), amountMinor)
      })
    )
  })

  it("rejects more decimals than the currency has, amounts beyond the exact range, and other text", () => {
    assert.isUndefined(parseAmount("1.005", "EUR"))
    assert.isUndefined(parseAmount("1.5", "JPY"))
    assert.isUndefined(parseAmount("90071992547409.92", "EUR"))
    assert.isUndefined(parseAmount("free", "EUR"))
  })
})
