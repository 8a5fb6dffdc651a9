import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { totalsAfter } from "../../../src/domain/invoicing/InvoiceTotals.ts"
import { assertPasses, errorsOf } from "../../support/assertions/decisions.ts"

const maxLines = 1000

describe("totalsAfter", () => {
  const amount = fc.maxSafeInteger()

  it("returns the exact sum of the lines, or an error beyond the safe integers", () => {
    fc.assert(
      fc.property(amount, fc.array(amount, { maxLength: 5 }), (totalMinor, amounts) => {
        const exact = amounts.reduce((sum, one) => sum + BigInt(one), BigInt(totalMinor))
        const change = { amounts, lineDelta: amounts.length, field: "billables" }
        const decision = totalsAfter({ totalMinor, billableCount: 3 }, change, maxLines)
        const total = Number(exact)
        if (!Number.isSafeInteger(total)) assert.deepStrictEqual(errorsOf(decision), ["billables max"])
        else
          assertPasses(decision, {
            subtotalMinor: total,
            totalMinor: total,
            billableCount: 3 + amounts.length
          })
      })
    )
  })

  it("rejects more lines than the quota, but no removal of lines", () => {
    const decide = (billableCount: number, lineDelta: number) =>
      errorsOf(totalsAfter({ totalMinor: 0, billableCount }, { amounts: [], lineDelta, field: "billables" }, maxLines))
    assert.isUndefined(decide(999, 1))
    assert.deepStrictEqual(decide(1000, 1), ["billables quota"])
    assert.isUndefined(decide(1500, -1))
  })
})
