import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { formatAmount } from "../../../src/domain/money/AmountFormat.ts"
import { formatDecimal, roundDecimal, toDecimal } from "../../../src/domain/money/Decimal.ts"
import { lineTotal, maxMinor, sumMinor } from "../../../src/domain/money/Money.ts"
import {
  exactLineTotal,
  isSafe,
  maxSafe,
  type Ratio,
  ratioOf,
  roundHalfAwayFromZero
} from "../../support/assertions/exactMoney.ts"
import { caseCount } from "../../support/caseCount.ts"

const runs = { numRuns: caseCount(500, 3000) }

/** A number in decimal digits by long division, which ends for every decimal. */
const divide = ({ over, under }: Ratio) => {
  const size = over < 0n ? -over : over
  let text = `${over < 0n ? "-" : ""}${size / under}`
  for (let rest = size % under, digits = 0; rest > 0n; rest = (rest * 10n) % under, digits++) {
    text += `${digits === 0 ? "." : ""}${(rest * 10n) / under}`
  }
  return text
}

/** An amount that JSON carries exactly, or undefined. */
const safeNumber = (amount: bigint) => (isSafe(amount) ? Number(amount) : undefined)

/** Short decimals, sums of them, tiny and huge numbers, halves. */
const quantity = fc.oneof(
  fc.tuple(fc.integer({ min: -1_000_000, max: 1_000_000 }), fc.nat(6)).map(([n, scale]) => n / 10 ** scale),
  fc.tuple(fc.integer(), fc.integer({ min: -12, max: 12 })).map(([n, power]) => Number(`${n}e${power}`)),
  fc.tuple(fc.nat(1000), fc.nat(1000)).map(([a, b]) => a / 10 + b / 10),
  fc.integer({ min: -10_000, max: 10_000 }).map((n) => n + 0.5),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true })
)
const amount = fc.oneof(fc.integer({ min: -100_000, max: 100_000 }), fc.maxSafeInteger())

describe("lineTotal", () => {
  it.each<[quantity: number, amountMinor: number, total: number | undefined]>([
    [1.005, 100, 101],
    [1.005, -100, -101],
    [1.0049, 100, 100],
    [0.1, 3, 0],
    [0.1 + 0.2, 10, 3],
    [0.3, 10, 3],
    [0.7 + 0.1, 100, 80],
    [1.15, 10, 12],
    [1.15, 100, 115],
    [0.285, 100, 29],
    [8.325, 100, 833],
    [1e-12, 1, 0],
    [1e-12, 499_999_999_999, 0],
    [1e-12, 500_000_000_000, 1],
    [1e-12, -500_000_000_000, -1],
    [1e-7, 5_000_000, 1],
    [1.5e-7, 10_000_000, 2],
    [5e-324, maxMinor, 0],
    [0.5, 1, 1],
    [0.5, -1, -1],
    [-0.5, 1, -1],
    [-0.5, -1, 1],
    [1.5, 1, 2],
    [2.5, 1, 3],
    [-2.5, 1, -3],
    [0.49999999999999994, 1, 0],
    [0.4, -1, 0],
    [0, 100, 0],
    [-0, 100, 0],
    [3, 0, 0],
    [1, maxMinor, maxMinor],
    [maxMinor, 1, maxMinor],
    [maxMinor, -1, -maxMinor],
    [0.5, maxMinor, 4503599627370496],
    [1.0000000000000002, maxMinor - 2, maxMinor],
    [1.0000000000000002, maxMinor - 1, undefined],
    [1.0000000000000002, 4503599627370495, 4503599627370496],
    [1 + 1e-12, maxMinor, undefined],
    [1 - 1e-12, maxMinor, 9007199254731984],
    [2, 4503599627370495, maxMinor - 1],
    [2, 4503599627370496, undefined],
    [-2, 4503599627370496, undefined],
    [9007199254740991, 2, undefined],
    [9007199254740992, 1, undefined],
    [1e21, 1, undefined],
    [1e300, -1, undefined]
  ])("rounds %s times %s to %s", (quantity, amountMinor, total) => {
    assert.strictEqual(lineTotal(quantity, amountMinor), total)
    assert.strictEqual(safeNumber(exactLineTotal(quantity, amountMinor)), total, "exactLineTotal")
  })

  it("returns the exact product, rounded once, or undefined beyond the safe integers", () => {
    fc.assert(
      fc.property(quantity, amount, (quantity, amountMinor) => {
        assert.strictEqual(lineTotal(quantity, amountMinor), safeNumber(exactLineTotal(quantity, amountMinor)))
      }),
      runs
    )
  })

  it("returns totals up to the largest safe integer and undefined beyond it", () => {
    const nearMax = fc.tuple(fc.integer({ min: 2, max: 1_000_000 }), fc.integer({ min: -3, max: 3 }), fc.boolean())
    fc.assert(
      fc.property(nearMax, ([factor, step, isNegative]) => {
        const amountMinor = Number(maxSafe / BigInt(factor)) + step
        const quantity = isNegative ? -factor : factor
        assert.strictEqual(lineTotal(quantity, amountMinor), safeNumber(BigInt(quantity) * BigInt(amountMinor)))
      }),
      runs
    )
  })
})

describe("sumMinor", () => {
  it.each<[amounts: ReadonlyArray<number>, total: number | undefined]>([
    [[], 0],
    [[1, -1], 0],
    [[maxMinor], maxMinor],
    [[maxMinor, 1], undefined],
    [[-maxMinor, -1], undefined],
    [[maxMinor - 1, 1], maxMinor],
    [[maxMinor, maxMinor, -maxMinor], maxMinor],
    [[maxMinor, 2, -1, -1], maxMinor]
  ])("sums %j to %s, even if an intermediate sum is not safe", (amounts, total) => {
    assert.strictEqual(sumMinor(...amounts), total)
  })

  it("returns the exact sum, or undefined beyond the safe integers", () => {
    fc.assert(
      fc.property(fc.array(amount, { maxLength: 20 }), (amounts) => {
        const exact = amounts.reduce((total, each) => total + BigInt(each), 0n)
        assert.strictEqual(sumMinor(...amounts), safeNumber(exact))
      }),
      runs
    )
  })
})

describe("Decimal", () => {
  it.each<[value: number, text: string]>([
    [1.005, "1.005"],
    [0.1 + 0.2, "0.30000000000000004"],
    [1e-12, "0.000000000001"],
    [-1.5e-7, "-0.00000015"],
    [1e21, "1000000000000000000000"],
    [-1.25e22, "-12500000000000000000000"],
    [-0, "0"],
    [100, "100"],
    [maxMinor, "9007199254740991"]
  ])("formats %s as %s", (value, text) => {
    assert.strictEqual(formatDecimal(toDecimal(value)), text)
  })

  it("has exactly the value of the number in JSON", () => {
    fc.assert(
      fc.property(quantity, (value) => {
        const { over, under } = ratioOf(value)
        const { digits, scale } = toDecimal(value)
        assert.isAtLeast(scale, 0)
        assert.strictEqual(digits * under, over * 10n ** BigInt(scale))
        assert.strictEqual(formatDecimal({ digits, scale }), divide({ over, under }))
        assert.strictEqual(Number(formatDecimal({ digits, scale })), value === 0 ? 0 : value)
      }),
      runs
    )
  })

  const decimal = fc.record({ digits: fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), scale: fc.nat(35) })

  it("formats any digits and scale as long division does", () => {
    fc.assert(
      fc.property(decimal, ({ digits, scale }) => {
        assert.strictEqual(formatDecimal({ digits, scale }), divide({ over: digits, under: 10n ** BigInt(scale) }))
      }),
      runs
    )
  })

  it("rounds to the nearest integer, and half away from zero", () => {
    const middle = fc
      .tuple(fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }), fc.integer({ min: 1, max: 20 }))
      .map(([whole, scale]) => ({ digits: whole * 10n ** BigInt(scale) + 5n * 10n ** BigInt(scale - 1), scale }))
    const nearMiddle = fc
      .tuple(middle, fc.constantFrom(-1n, 0n, 1n))
      .map(([{ digits, scale }, step]) => ({ digits: digits + step, scale }))
    fc.assert(
      fc.property(fc.oneof(decimal, nearMiddle), ({ digits, scale }) => {
        assert.strictEqual(
          roundDecimal({ digits, scale }),
          roundHalfAwayFromZero({ over: digits, under: 10n ** BigInt(scale) })
        )
        assert.strictEqual(roundDecimal({ digits: -digits, scale }), -roundDecimal({ digits, scale }))
      }),
      runs
    )
  })
})

describe("formatAmount", () => {
  it.each<[amountMinor: number, currencyCode: string, text: string]>([
    [0, "JPY", "0"],
    [123_456, "JPY", "123,456"],
    [-1_000, "JPY", "-1,000"],
    [0, "EUR", "0.00"],
    [-0, "EUR", "0.00"],
    [5, "EUR", "0.05"],
    [-5, "EUR", "-0.05"],
    [99_999, "EUR", "999.99"],
    [100_000, "EUR", "1,000.00"],
    [123_456, "EUR", "1,234.56"],
    [maxMinor, "EUR", "90,071,992,547,409.91"],
    [-maxMinor, "EUR", "-90,071,992,547,409.91"],
    [7, "KWD", "0.007"],
    [123_456, "KWD", "123.456"],
    [1_234_567, "KWD", "1,234.567"],
    [1, "CLF", "0.0001"],
    [123_456_789, "CLF", "12,345.6789"]
  ])("formats %s minor units of %s as %s", (amountMinor, currencyCode, text) => {
    assert.strictEqual(formatAmount(amountMinor, currencyCode), text)
  })

  it("uses the decimals of the currency and separates thousands by commas", () => {
    const currency = fc.constantFrom(["JPY", 0] as const, ["EUR", 2] as const, ["KWD", 3] as const, ["CLF", 4] as const)
    fc.assert(
      fc.property(amount, currency, (amountMinor, [currencyCode, decimals]) => {
        const unit = 10n ** BigInt(decimals)
        const size = amountMinor < 0 ? -BigInt(amountMinor) : BigInt(amountMinor)
        const whole = (size / unit).toLocaleString("en-US")
        const fraction = decimals === 0 ? "" : `.${String(unit + (size % unit)).slice(1)}`
        const expected = `${amountMinor < 0 ? "-" : ""}${whole}${fraction}`
        assert.strictEqual(formatAmount(amountMinor, currencyCode), expected)
      }),
      runs
    )
  })
})
