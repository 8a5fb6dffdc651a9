import { build } from "esbuild"
import { assert, describe, it } from "vitest"
import { applyToTaxSets, withTerms } from "../../../src/domain/invoicing/draft/TaxSets.ts"
import {
  invoiceAmounts,
  lineAmounts,
  percentOf,
  splitDiscount,
  type TaxTerms
} from "../../../src/domain/money/InvoiceArithmetic.ts"
import { maxMinor } from "../../../src/domain/money/Money.ts"
import { type ExactDiscount, type ExactLine, exactInvoice, exactLine } from "../../support/assertions/exactInvoice.ts"
import { exactLineTotal } from "../../support/assertions/exactMoney.ts"
import { caseCount } from "../../support/caseCount.ts"
import { makeRandom, randomInvoice, randomRates } from "../../support/fixtures/randomInvoices.ts"

const terms = new Map<string, TaxTerms>(randomRates.map((rate) => [rate.id, rate]))

/** Fewer assertions: each costs as much as a line. */
const requireDefined = <A>(value: A | undefined): A => value ?? assert.fail("is beyond the exact range")

const assertSame = (actual: string, expected: string, name: string) => {
  if (actual !== expected) assert.strictEqual(actual, expected, name)
}

const computeLine = (line: ExactLine) => requireDefined(lineAmounts(line))

/** Computes an invoice as the service does: line by line into tax sets, then all amounts from the sets. */
const computeInvoice = (lines: ReadonlyArray<ExactLine>, discount: ExactDiscount | undefined) => {
  const changes = lines.map((line) => ({
    taxRates: line.rates.map(({ id }) => id),
    netMinor: computeLine(line).lineTotalMinor,
    lineCount: 1
  }))
  const sets = requireDefined(applyToTaxSets([], changes))
  return { sets, amounts: requireDefined(invoiceAmounts(withTerms(sets, terms), discount)) }
}

const assertExact = ({ discount, lines }: ReturnType<typeof randomInvoice>, name: string) => {
  for (const line of lines) {
    const { discountMinor, lineTotalMinor } = computeLine(line)
    const expected = exactLine(line)
    assertSame(`${discountMinor} ${lineTotalMinor}`, `${expected.discount} ${expected.net}`, name)
  }
  const { amounts, sets } = computeInvoice(lines, discount)
  const expected = exactInvoice(lines, discount)
  const keys = sets.map(({ taxRates }) => taxRates.join(" "))
  assertSame(
    [
      amounts.subtotalMinor,
      amounts.discountMinor,
      ...amounts.discountShares,
      ...amounts.taxes.map(({ baseMinor, percent, taxMinor }) => `${percent} % of ${baseMinor} is ${taxMinor}`),
      amounts.taxMinor,
      amounts.totalMinor
    ].join("; "),
    [
      expected.subtotal,
      expected.discount,
      ...keys.map((key) => expected.shares.get(key) ?? 0n),
      ...expected.taxes.map(({ base, rate, tax }) => `${rate.percent} % of ${base} is ${tax}`),
      expected.tax,
      expected.total
    ].join("; "),
    name
  )
}

const invoiceCount = caseCount(5000, 50_000)

describe("The arithmetic of invoices", () => {
  it(`agrees with an exact oracle on ${invoiceCount} random invoices`, () => {
    const random = makeRandom(17)
    for (let n = 0; n < invoiceCount; n++) assertExact(randomInvoice(random, exactLineTotal), `invoice ${n}`)
  })

  it("is a module that a browser can import: it has no imports but its own", async () => {
    const { metafile } = await build({
      entryPoints: ["src/domain/money/InvoiceArithmetic.ts"],
      bundle: true,
      write: false,
      metafile: true,
      platform: "browser",
      format: "esm"
    })
    assert.deepStrictEqual(Object.keys(metafile.inputs).sort(), [
      "src/domain/money/Decimal.ts",
      "src/domain/money/InvoiceArithmetic.ts",
      "src/domain/money/Money.ts"
    ])
  })

  it("computes an invoice with 19 % and 7 % as by hand", () => {
    const { amounts } = computeInvoice(
      [
        { quantity: 2.5, amountMinor: 8800, rates: [randomRates[0]] },
        { quantity: 3, amountMinor: 1095, rates: randomRates.slice(2, 3) }
      ],
      undefined
    )
    assert.deepStrictEqual(amounts, {
      subtotalMinor: 25_285,
      discountMinor: 0,
      discountShares: [0, 0],
      taxes: [
        { taxRates: ["tax_b"], name: "VAT 19 %", percent: 19, category: "S", baseMinor: 22_000, taxMinor: 4180 },
        { taxRates: ["tax_c"], name: "VAT 7 %", percent: 7, category: "S", baseMinor: 3285, taxMinor: 230 }
      ],
      taxMinor: 4410,
      totalMinor: 29_695
    })
  })

  it("merges rates of the same category and percentage, and joins their names and reasons", () => {
    const rates = [
      {
        id: "tax_2",
        name: "Export",
        percent: 0,
        category: "G",
        exemptionReason: "Export.",
        exemptionCode: "VATEX-EU-G"
      },
      { id: "tax_1", name: "Export goods", percent: 0, category: "G", exemptionReason: "Goods left the EU." },
      {
        id: "tax_3",
        name: "Export",
        percent: 0,
        category: "G",
        exemptionReason: "Export.",
        exemptionCode: "VATEX-EU-G"
      }
    ] as const
    const amounts = invoiceAmounts(
      rates.map((rate) => ({ taxRates: [rate], netMinor: 100 })),
      undefined
    )
    assert.deepStrictEqual(amounts?.taxes, [
      {
        taxRates: ["tax_1", "tax_2", "tax_3"],
        name: "Export goods, Export",
        percent: 0,
        category: "G",
        exemptionReason: "Goods left the EU. Export.",
        exemptionCode: "VATEX-EU-G",
        baseMinor: 300,
        taxMinor: 0
      }
    ])
  })

  it("gives a tax that is not VAT no category, not even an undefined one", () => {
    const rate = { id: "tax_1", name: "Duty", percent: 5 }
    const [tax] = invoiceAmounts([{ taxRates: [rate], netMinor: 100 }], undefined)?.taxes ?? []
    assert.deepStrictEqual(Object.keys(tax ?? {}), ["taxRates", "name", "percent", "baseMinor", "taxMinor"])
  })

  it("leaves the code of a reason out when the rates have several", () => {
    const rates = ["VATEX-EU-G", "VATEX-EU-O"].map((exemptionCode, n) => ({
      id: `tax_${n}`,
      name: "None",
      percent: 0,
      category: "E" as const,
      exemptionReason: "Exempt.",
      exemptionCode
    }))
    const amounts = invoiceAmounts([{ taxRates: rates, netMinor: 1 }], undefined)
    assert.notProperty(amounts?.taxes[0], "exemptionCode")
  })

  it("is undefined beyond the exact range", () => {
    const rate = { id: "tax_1", name: "Duty", percent: 100 }
    assert.isUndefined(invoiceAmounts([{ taxRates: [rate], netMinor: maxMinor }], undefined))
    assert.isUndefined(
      invoiceAmounts(
        [
          { taxRates: [], netMinor: maxMinor },
          { taxRates: [rate], netMinor: 1 }
        ],
        undefined
      )
    )
    // The subtotal is within the range, the base of the tax is not.
    const nets = [
      { taxRates: [rate], netMinor: maxMinor },
      { taxRates: [rate, { ...rate, id: "tax_2", name: "Fee", percent: 0 }], netMinor: maxMinor }
    ]
    assert.isUndefined(invoiceAmounts([{ taxRates: [], netMinor: -maxMinor }, ...nets], undefined))
    assert.isUndefined(lineAmounts({ quantity: 2, amountMinor: maxMinor }))
    assert.isUndefined(
      applyToTaxSets(
        [{ taxRates: [], netMinor: maxMinor, lineCount: 1 }],
        [{ taxRates: [], netMinor: 1, lineCount: 1 }]
      )
    )
  })
})

describe("splitDiscount", () => {
  it.each<[discount: number, nets: ReadonlyArray<number>, shares: ReadonlyArray<number>]>([
    [10, [100, 100], [5, 5]],
    [1, [100, 100], [1, 0]],
    [2, [100, 100, 100], [1, 1, 0]],
    [100, [1, 2], [33, 67]],
    [3, [1, 2], [1, 2]],
    [5, [-10, 10, 0], [0, 5, 0]],
    [0, [5, 5], [0, 0]],
    [0, [], []],
    [0, [-5], [0]]
  ])("splits %i over %j", (discount, nets, shares) => {
    assert.deepStrictEqual(splitDiscount(discount, nets), shares)
  })
})

describe("percentOf", () => {
  it.each<[amount: number, percent: number, result: number]>([
    [50, 1, 1],
    [49, 1, 0],
    [-50, 1, -1],
    [3285, 7, 230],
    [1, 100, 1],
    [maxMinor, 100, maxMinor],
    [1_000_000, 0.0001, 1],
    [499_999, 0.0001, 0]
  ])("of %i and %d percent is %i", (amount, percent, result) => {
    assert.strictEqual(percentOf(amount, percent), result)
  })
})
