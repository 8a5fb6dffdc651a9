import fc from "fast-check"
import { assert, describe, it } from "vitest"
import {
  allTaxSets,
  applyToTaxSets,
  storedTaxSets,
  type TaxSet,
  withTerms
} from "../../../../src/domain/invoicing/draft/TaxSets.ts"

const line = fc.record({
  taxRates: fc
    .subarray(["tax_a", "tax_b", "tax_c"])
    .chain((rates) => fc.shuffledSubarray(rates, { minLength: rates.length })),
  netMinor: fc.integer({ min: -1000, max: 1000 }),
  lineCount: fc.constant(1)
})

const removalOf = ({ lineCount, netMinor, taxRates }: TaxSet) => ({
  taxRates,
  netMinor: -netMinor,
  lineCount: -lineCount
})

const sumsOf = (lines: ReadonlyArray<TaxSet>) => ({
  subtotalMinor: lines.reduce((sum, { netMinor }) => sum + netMinor, 0),
  billableCount: lines.length
})

describe("The tax sets of an invoice", () => {
  it("sum up lines by their rates, in whatever order a line names them", () => {
    const sets = applyToTaxSets(
      [],
      [
        { taxRates: ["tax_b", "tax_a"], netMinor: 100, lineCount: 1 },
        { taxRates: [], netMinor: 7, lineCount: 1 },
        { taxRates: ["tax_a", "tax_b"], netMinor: -30, lineCount: 1 },
        { taxRates: ["tax_a"], netMinor: 5, lineCount: 1 }
      ]
    )
    assert.deepStrictEqual(sets, [
      { taxRates: [], netMinor: 7, lineCount: 1 },
      { taxRates: ["tax_a"], netMinor: 5, lineCount: 1 },
      { taxRates: ["tax_a", "tax_b"], netMinor: 70, lineCount: 2 }
    ])
  })

  it("are those of the lines that are left, whichever lines came and went before", () => {
    fc.assert(
      fc.property(fc.array(line), fc.array(line), (kept, gone) => {
        const all = applyToTaxSets(applyToTaxSets([], gone) ?? [], kept) ?? []
        assert.deepStrictEqual(applyToTaxSets(all, gone.map(removalOf)), applyToTaxSets([], kept))
      })
    )
  })

  it("can be restored from those with taxes and the sums of the invoice", () => {
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const sets = applyToTaxSets([], lines) ?? []
        assert.deepStrictEqual(allTaxSets(storedTaxSets(sets), sumsOf(lines)), sets)
      })
    )
  })

  it("get the terms of their rates", () => {
    const rate = { id: "tax_a", name: "VAT", percent: 19 }
    assert.deepStrictEqual(
      withTerms([{ taxRates: ["tax_a"], netMinor: 1, lineCount: 1 }], new Map([["tax_a", rate]])),
      [{ netMinor: 1, taxRates: [rate] }]
    )
  })
})
