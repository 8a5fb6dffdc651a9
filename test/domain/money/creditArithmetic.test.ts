import fc from "fast-check"
import { assert, describe, it } from "vitest"
import {
  creditedAmounts,
  netOfQuantity,
  quantityAfter,
  subtractAmounts
} from "../../../src/domain/money/CreditArithmetic.ts"
import { formatDecimal } from "../../../src/domain/money/Decimal.ts"
import {
  type InvoiceAmounts,
  invoiceAmounts,
  type TaxedNet,
  type TaxTerms
} from "../../../src/domain/money/InvoiceArithmetic.ts"
import { caseCount } from "../../support/caseCount.ts"

const rate = (id: string, percent: number, category?: "S" | "Z"): TaxTerms => ({
  id,
  name: id,
  percent,
  ...(category === undefined ? {} : { category })
})
const rates = [rate("a", 19, "S"), rate("b", 7.7, "S"), rate("c", 1.1111), rate("d", 0, "Z"), rate("e", 100)]

const sets = fc
  .array(
    fc.record({
      taxRates: fc.subarray(rates, { maxLength: 2 }),
      netMinor: fc.oneof(
        fc.integer({ min: 0, max: 100_000 }),
        fc.integer({ min: 0, max: 9 }),
        fc.integer({ min: -500, max: 0 })
      )
    }),
    { minLength: 1, maxLength: 5 }
  )
  .map(
    (all): ReadonlyArray<TaxedNet> => [
      ...new Map(all.map((set) => [set.taxRates.map(({ id }) => id).join(), set])).values()
    ]
  )

const discount = fc.option(
  fc.oneof(
    fc.record({ percent: fc.constantFrom(0.01, 3.3333, 10, 50, 99.99, 100) }),
    fc.record({ amountMinor: fc.integer({ min: 1, max: 5000 }) })
  ),
  { nil: undefined }
)

const requireAmounts = (amounts: InvoiceAmounts | undefined) => amounts ?? assert.fail("beyond the exact range")

describe("The notes of an invoice", () => {
  it("add up to the invoice exactly, in any order and size, with discounts and several rates", () => {
    fc.assert(
      fc.property(
        sets,
        discount,
        fc.array(fc.array(fc.double({ min: 0, max: 1, noNaN: true })), { maxLength: 6 }),
        (sets, discount, steps) => {
          const invoice = requireAmounts(invoiceAmounts(sets, discount))
          let credited = sets.map(() => 0)
          let before = requireAmounts(creditedAmounts(sets, invoice.discountMinor, credited))
          const notes: Array<InvoiceAmounts> = []
          for (const step of [...steps, sets.map(() => 1)]) {
            credited = credited.map(
              (sum, index) => sum + Math.trunc(((sets[index]?.netMinor ?? 0) - sum) * (step[index] ?? 0))
            )
            const after = requireAmounts(creditedAmounts(sets, invoice.discountMinor, credited))
            notes.push(subtractAmounts(after, before))
            before = after
          }
          const sumOf = (name: "subtotalMinor" | "discountMinor" | "taxMinor" | "totalMinor") =>
            notes.reduce((sum, note) => sum + note[name], 0)
          for (const name of ["subtotalMinor", "discountMinor", "taxMinor", "totalMinor"] as const)
            assert.strictEqual(sumOf(name), invoice[name], name)
          for (const { baseMinor, name, percent, taxMinor } of invoice.taxes) {
            const rows = notes.flatMap(({ taxes }) =>
              taxes.filter((tax) => tax.name === name && tax.percent === percent)
            )
            assert.strictEqual(
              rows.reduce((sum, row) => sum + row.baseMinor, 0),
              baseMinor
            )
            assert.strictEqual(
              rows.reduce((sum, row) => sum + row.taxMinor, 0),
              taxMinor
            )
          }
        }
      ),
      { numRuns: caseCount(300, 1000) }
    )
  })

  it("never credit a negative amount of sets with positive nets", () => {
    fc.assert(
      fc.property(sets, discount, fc.double({ min: 0, max: 1, noNaN: true }), (all, discount, share) => {
        const positive = all.map((set) => ({ ...set, netMinor: Math.abs(set.netMinor) }))
        const { discountMinor } = requireAmounts(invoiceAmounts(positive, discount))
        const amountsAt = (part: number) =>
          requireAmounts(
            creditedAmounts(
              positive,
              discountMinor,
              positive.map(({ netMinor }) => Math.floor(netMinor * part))
            )
          )
        const note = subtractAmounts(amountsAt(1), amountsAt(share))
        assert.isAtLeast(note.totalMinor, 0)
        assert.isAtLeast(note.discountMinor, 0)
        assert.isAtLeast(note.taxMinor, 0)
      })
    )
  })

  it("leave out taxes that they do not touch", () => {
    const [vat, reduced] = [
      { taxRates: rates.slice(0, 1), netMinor: 100 },
      { taxRates: rates.slice(1, 2), netMinor: 50 }
    ]
    const amountsAt = (...credited: ReadonlyArray<number>) =>
      requireAmounts(creditedAmounts([vat, reduced], 0, credited))
    assert.deepStrictEqual(subtractAmounts(amountsAt(100, 20), amountsAt(100, 0)).taxes, [
      { taxRates: ["b"], name: "b", percent: 7.7, category: "S", baseMinor: 20, taxMinor: 2 }
    ])
  })
})

describe("netOfQuantity", () => {
  const line = (quantity: number, lineTotalMinor: number, creditedQuantity = "0") => ({
    ...{ quantity, lineTotalMinor, creditedQuantity },
    creditedMinor: 0
  })

  it("is in proportion to the quantity, rounded half away from zero", () => {
    assert.strictEqual(netOfQuantity(line(4, 1000), 1), 250)
    assert.strictEqual(netOfQuantity(line(8, 100), 1), 13)
    assert.strictEqual(netOfQuantity(line(-8, 100), -1), 13)
    assert.strictEqual(netOfQuantity(line(8, -100), 1), -13)
    assert.strictEqual(netOfQuantity(line(0, 0), 1), 0)
  })

  it("adds up to the line exactly, whatever the steps, also for quantities that no double sums exactly", () => {
    assert.strictEqual(formatDecimal(quantityAfter({ creditedQuantity: "0.1" }, 0.2)), "0.3")
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000_000_000 }),
        fc.array(fc.integer({ min: 1, max: 99_999 }), { minLength: 1, maxLength: 10 }),
        (lineTotalMinor, thousandths) => {
          const quantity = thousandths.reduce((sum, part) => sum + part, 0) / 1000
          let creditedQuantity = "0"
          let credited = 0
          for (const part of thousandths) {
            const current = line(quantity, lineTotalMinor, creditedQuantity)
            credited += netOfQuantity(current, part / 1000)
            creditedQuantity = formatDecimal(quantityAfter(current, part / 1000))
          }
          assert.strictEqual(credited, lineTotalMinor)
        }
      )
    )
  })
})
