import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { maxTaxSets, type TaxSet } from "../../../src/domain/invoicing/draft/TaxSets.ts"
import { netOf, totalsAfter } from "../../../src/domain/invoicing/InvoiceTotals.ts"
import type { TaxTerms } from "../../../src/domain/money/InvoiceArithmetic.ts"
import { assertPasses, errorsOf } from "../../support/assertions/decisions.ts"

const maxLines = 1000
const empty = { subtotalMinor: 0, discountMinor: 0, taxes: [], taxMinor: 0, totalMinor: 0, billableCount: 0 }
const noRates = new Map<string, TaxTerms>()

const lineOf = (netMinor: number, ...taxRates: ReadonlyArray<string>): TaxSet => ({ taxRates, netMinor, lineCount: 1 })
const ratesOf = (...rates: ReadonlyArray<TaxTerms>) => new Map(rates.map((rate) => [rate.id, rate]))

describe("totalsAfter", () => {
  const amount = fc.maxSafeInteger()

  it("returns the exact sum of untaxed lines, or an error beyond the safe integers", () => {
    fc.assert(
      fc.property(amount, fc.array(amount, { maxLength: 5 }), (subtotalMinor, amounts) => {
        const exact = amounts.reduce((sum, one) => sum + BigInt(one), BigInt(subtotalMinor))
        const value = { ...empty, subtotalMinor, totalMinor: subtotalMinor, billableCount: 3 }
        const change = { lines: amounts.map((one) => lineOf(one)), field: "billables" }
        const decision = totalsAfter({ value, taxSets: [] }, change, noRates, maxLines)
        const total = Number(exact)
        if (!Number.isSafeInteger(total)) assert.deepStrictEqual(errorsOf(decision), ["billables max"])
        else
          assertPasses(decision, {
            totals: {
              ...{ ...empty, subtotalMinor: total, totalMinor: total },
              balanceMinor: Math.max(total, 0),
              billableCount: 3 + amounts.length
            },
            taxSets: [],
            netChanges: [total, -subtotalMinor]
          })
      })
    )
  })

  it("adds lines to their tax sets, computes the taxes and counts the net amount", () => {
    const rates = ratesOf({ id: "tax_1", name: "VAT", percent: 20, category: "S" })
    const value = { ...empty, subtotalMinor: 150, discount: { amountMinor: 30 }, billableCount: 2 }
    const taxSets = [{ taxRates: ["tax_1"], netMinor: 100, lineCount: 1 }]
    const change = { lines: [lineOf(100, "tax_1"), { ...lineOf(-50), lineCount: -1 }], field: "billables" }
    assertPasses(totalsAfter({ value, taxSets }, change, rates, maxLines), {
      totals: {
        subtotalMinor: 200,
        discountMinor: 30,
        taxes: [{ taxRates: ["tax_1"], name: "VAT", percent: 20, category: "S", baseMinor: 170, taxMinor: 34 }],
        taxMinor: 34,
        totalMinor: 204,
        balanceMinor: 204,
        billableCount: 2
      },
      taxSets: [{ taxRates: ["tax_1"], netMinor: 200, lineCount: 2 }],
      netChanges: [170, -150]
    })
  })

  it("rejects a total that only the taxes bring beyond the safe integers", () => {
    const rates = ratesOf({ id: "tax_1", name: "Duty", percent: 100 })
    const change = { lines: [lineOf(Number.MAX_SAFE_INTEGER, "tax_1")], field: "billables" }
    assert.deepStrictEqual(errorsOf(totalsAfter({ value: empty, taxSets: [] }, change, rates, maxLines)), [
      "billables max"
    ])
  })

  it("rejects more tax sets than an invoice can have", () => {
    const decide = (count: number) => {
      const ids = Array.from({ length: count }, (_, n) => `tax_${n}`)
      const rates = ratesOf(...ids.map((id) => ({ id, name: id, percent: 1 })))
      const change = { lines: ids.map((id) => lineOf(1, id)), field: "billables" }
      return errorsOf(totalsAfter({ value: empty, taxSets: [] }, change, rates, maxLines))
    }
    assert.isUndefined(decide(maxTaxSets))
    assert.deepStrictEqual(decide(maxTaxSets + 1), ["billables maxItems"])
  })

  it("rejects more lines than the quota, but no removal of lines", () => {
    const decide = (billableCount: number, lineCount: number) => {
      const value = { ...empty, billableCount }
      const change = { lines: [{ taxRates: [], netMinor: 0, lineCount }], field: "billables" }
      return errorsOf(totalsAfter({ value, taxSets: [] }, change, noRates, maxLines))
    }
    assert.isUndefined(decide(999, 1))
    assert.deepStrictEqual(decide(1000, 1), ["billables quota"])
    assert.isUndefined(decide(1500, -1))
  })
})

describe("netOf", () => {
  it("is the subtotal less the discount, without taxes", () => {
    assert.strictEqual(netOf({ subtotalMinor: 200, discountMinor: 30 }), 170)
  })
})
