import { assert, describe, it } from "vitest"
import { draftTotals } from "../../../../src/domain/invoicing/draft/DraftTotals.ts"
import { maxMinor } from "../../../../src/domain/money/Money.ts"
import { exactInvoice } from "../../../support/assertions/exactInvoice.ts"
import { exactLineTotal } from "../../../support/assertions/exactMoney.ts"
import { caseCount } from "../../../support/caseCount.ts"
import { makeRandom, randomInvoice, randomRates } from "../../../support/fixtures/randomInvoices.ts"

const terms = new Map(randomRates.map((rate) => [rate.id, rate]))

describe("draftTotals", () => {
  const draftCount = caseCount(500, 5000)

  it(`agrees with an exact oracle on ${draftCount} random drafts`, () => {
    const random = makeRandom(23)
    for (let n = 0; n < draftCount; n++) {
      const { discount, lines } = randomInvoice(random, exactLineTotal)
      const draft = lines.map(({ rates, ...line }) => ({ ...line, taxRates: rates.map(({ id }) => id) }))
      const amounts = draftTotals(draft, discount, terms)
      const expected = exactInvoice(lines, discount)
      assert.deepStrictEqual(
        [amounts?.subtotalMinor, amounts?.discountMinor, amounts?.taxMinor, amounts?.totalMinor].map(String),
        [expected.subtotal, expected.discount, expected.tax, expected.total].map(String),
        `draft ${n}`
      )
    }
  })

  it("is 0 for a draft without lines", () => {
    assert.deepInclude(draftTotals([], undefined, terms), { subtotalMinor: 0, totalMinor: 0, taxes: [] })
  })

  it("is undefined for a line, and for a sum, beyond the exact range", () => {
    const line = { quantity: 1, amountMinor: maxMinor, taxRates: [] }
    assert.isUndefined(draftTotals([{ ...line, quantity: 2 }], undefined, terms))
    assert.isUndefined(draftTotals([line, line], undefined, terms))
  })
})
