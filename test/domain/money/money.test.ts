import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { formatDecimal, roundDecimal, toDecimal } from "../../../src/domain/money/Decimal.ts"
import { formatAmount, lineTotal, maxMinor, sumMinor } from "../../../src/domain/money/Money.ts"
import {
  exactLineTotal,
  isSafe,
  maxSafe,
  type Ratio,
  ratioOf,
  roundHalfAwayFromZero
} from "../../support/assertions/exactMoney.ts"

const runs = { numRuns: 3000 }

/** A number as long division writes it; the fraction of a decimal always ends. */
const written = ({ over, under }: Ratio) => {
  const size = over < 0n ? -over : over
  let text = `${over < 0n ? "-" : ""}${size / under}`
  for (let rest = size % under, digits = 0; rest > 0n; rest = (rest * 10n) % under, digits++) {
    text += `${digits === 0 ? "." : ""}${(rest * 10n) / under}`
  }
  return text
}

/** An amount or nothing, as money is told. */
const told = (amount: bigint) => (isSafe(amount) ? Number(amount) : undefined)

/** Quantities such as people and programs write: short decimals, sums of them, tiny and huge ones, halves. */
const quantity = fc.oneof(
  fc.tuple(fc.integer({ min: -1_000_000, max: 1_000_000 }), fc.nat(6)).map(([n, scale]) => n / 10 ** scale),
  fc.tuple(fc.integer(), fc.integer({ min: -12, max: 12 })).map(([n, power]) => Number(`${n}e${power}`)),
  fc.tuple(fc.nat(1000), fc.nat(1000)).map(([a, b]) => a / 10 + b / 10),
  fc.integer({ min: -10_000, max: 10_000 }).map((n) => n + 0.5),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true })
)
const amount = fc.oneof(fc.integer({ min: -100_000, max: 100_000 }), fc.maxSafeInteger())

describe("a line's total", () => {
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
  ])("of %s times %s is %s", (quantity, amountMinor, total) => {
    assert.strictEqual(lineTotal(quantity, amountMinor), total)
    assert.strictEqual(told(exactLineTotal(quantity, amountMinor)), total, "by the oracle")
  })

  it("is the exact product, rounded once, or nothing beyond what JSON carries", () => {
    fc.assert(
      fc.property(quantity, amount, (quantity, amountMinor) => {
        assert.strictEqual(lineTotal(quantity, amountMinor), told(exactLineTotal(quantity, amountMinor)))
      }),
      runs
    )
  })

  it("is told up to the very edge and not a step beyond", () => {
    const nearEdge = fc.tuple(fc.integer({ min: 2, max: 1_000_000 }), fc.integer({ min: -3, max: 3 }), fc.boolean())
    fc.assert(
      fc.property(nearEdge, ([factor, step, isNegative]) => {
        const amountMinor = Number(maxSafe / BigInt(factor)) + step
        const quantity = isNegative ? -factor : factor
        assert.strictEqual(lineTotal(quantity, amountMinor), told(BigInt(quantity) * BigInt(amountMinor)))
      }),
      runs
    )
  })
})

describe("a sum", () => {
  it.each<[amounts: ReadonlyArray<number>, total: number | undefined]>([
    [[], 0],
    [[1, -1], 0],
    [[maxMinor], maxMinor],
    [[maxMinor, 1], undefined],
    [[-maxMinor, -1], undefined],
    [[maxMinor - 1, 1], maxMinor],
    [[maxMinor, maxMinor, -maxMinor], maxMinor],
    [[maxMinor, 2, -1, -1], maxMinor]
  ])("of %j is %s, whatever is passed on the way", (amounts, total) => {
    assert.strictEqual(sumMinor(...amounts), total)
  })

  it("is exact or nothing", () => {
    fc.assert(
      fc.property(fc.array(amount, { maxLength: 20 }), (amounts) => {
        const exact = amounts.reduce((total, each) => total + BigInt(each), 0n)
        assert.strictEqual(sumMinor(...amounts), told(exact))
      }),
      runs
    )
  })
})

describe("a decimal", () => {
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
  ])("reads %s as %s", (value, text) => {
    assert.strictEqual(formatDecimal(toDecimal(value)), text)
  })

  it("is the number as JSON writes it, with nothing lost and nothing added", () => {
    fc.assert(
      fc.property(quantity, (value) => {
        const { over, under } = ratioOf(value)
        const { digits, scale } = toDecimal(value)
        assert.isAtLeast(scale, 0)
        assert.strictEqual(digits * under, over * 10n ** BigInt(scale))
        assert.strictEqual(formatDecimal({ digits, scale }), written({ over, under }))
        assert.strictEqual(Number(formatDecimal({ digits, scale })), value === 0 ? 0 : value)
      }),
      runs
    )
  })

  const decimal = fc.record({ digits: fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), scale: fc.nat(35) })

  it("is written out as long division writes it", () => {
    fc.assert(
      fc.property(decimal, ({ digits, scale }) => {
        assert.strictEqual(formatDecimal({ digits, scale }), written({ over: digits, under: 10n ** BigInt(scale) }))
      }),
      runs
    )
  })

  it("is rounded to the nearest, and from the middle away from zero", () => {
    const middle = fc
      .tuple(fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }), fc.integer({ min: 1, max: 20 }))
      .map(([whole, scale]) => ({ digits: whole * 10n ** BigInt(scale) + 5n * 10n ** BigInt(scale - 1), scale }))
    const beside = fc
      .tuple(middle, fc.constantFrom(-1n, 0n, 1n))
      .map(([{ digits, scale }, step]) => ({ digits: digits + step, scale }))
    fc.assert(
      fc.property(fc.oneof(decimal, beside), ({ digits, scale }) => {
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

describe("an amount in its major unit", () => {
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
  ])("of %s in %s is %s", (amountMinor, currencyCode, text) => {
    assert.strictEqual(formatAmount(amountMinor, currencyCode), text)
  })

  it("has the currency's decimals and a comma after each thousand", () => {
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
