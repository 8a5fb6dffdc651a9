import { Either } from "effect"
import { assert, describe, it } from "vitest"
import { creditInvoice } from "../../../src/domain/creditNotes/Crediting.ts"
import { creditTotals } from "../../../src/domain/creditNotes/CreditTotals.ts"
import { BillableId } from "../../../src/domain/invoicing/Billable.ts"
import { draftTotals } from "../../../src/domain/invoicing/draft/DraftTotals.ts"
import { applyToTaxSets, storedTaxSets, type TaxSet } from "../../../src/domain/invoicing/draft/TaxSets.ts"
import { lineAmounts } from "../../../src/domain/money/InvoiceArithmetic.ts"
import { exactLineTotal } from "../../support/assertions/exactMoney.ts"
import { integerBetween, makeRandom, randomInvoice, randomRates } from "../../support/fixtures/randomInvoices.ts"

const noteCount = 500
const terms = new Map(randomRates.map((rate) => [rate.id, rate]))

const drawInvoice = (random: () => number) => {
  const { discount, lines } = randomInvoice(random, exactLineTotal)
  const known = lines.map(({ rates, ...line }, index) => ({
    ...line,
    id: BillableId.make(`bil_${index}`),
    taxRates: rates.map(({ id }) => id),
    lineTotalMinor: lineAmounts(line)?.lineTotalMinor ?? 0,
    creditedQuantity: "0",
    creditedMinor: 0
  }))
  return { lines: known, amounts: draftTotals(known, discount, terms) }
}

const setsOf = (parts: ReadonlyArray<TaxSet>) => applyToTaxSets([], parts) ?? []

describe("creditTotals", () => {
  it(`has the amounts that the service decides on, on ${noteCount} random notes after another`, () => {
    const random = makeRandom(17)
    let checked = 0
    while (checked < noteCount) {
      const { amounts, lines } = drawInvoice(random)
      if (amounts === undefined || lines.length === 0) continue
      const invoice = { ...amounts, status: "FINALIZED" as const, billableCount: lines.length }
      const shareOf = (lineTotalMinor: number) => Math.trunc(lineTotalMinor / integerBetween(random, 2, 5))
      const before = lines.map((line) => ({
        ...line,
        creditedMinor: random() < 0.5 ? shareOf(line.lineTotalMinor) : 0
      }))
      const wanted = before.map((line) => ({
        ...line,
        amountMinor: random() < 0.6 ? shareOf(line.lineTotalMinor - line.creditedMinor) : 0
      }))
      const toSets = (netOf: (line: (typeof before)[number]) => number, lineCount: number) =>
        setsOf(before.map((line) => ({ taxRates: line.taxRates, netMinor: netOf(line), lineCount: 1 }))).map((set) => ({
          ...set,
          lineCount: set.lineCount * lineCount
        }))
      const decided = creditInvoice(
        {
          invoice,
          taxSets: storedTaxSets(toSets(({ lineTotalMinor }) => lineTotalMinor, 1)),
          credited: toSets(({ creditedMinor }) => creditedMinor, 0)
        },
        {
          full: false,
          lines: wanted.flatMap(({ amountMinor, id }) => (amountMinor === 0 ? [] : [{ billable: id, amountMinor }]))
        },
        new Map(before.map((line) => [line.id as string, line]))
      )
      // What the service rejects has no amounts to compare with.
      if (Either.isLeft(decided)) continue
      assert.deepStrictEqual(creditTotals(invoice, wanted), decided.right.amounts)
      checked++
    }
  })

  it("credits exactly what is left with everything that is left of every line", () => {
    const random = makeRandom(19)
    for (let n = 0; n < noteCount; n++) {
      const { amounts, lines } = drawInvoice(random)
      if (amounts === undefined) continue
      const invoice = { ...amounts, billableCount: lines.length }
      const wanted = lines.map((line) => ({ ...line, amountMinor: line.lineTotalMinor }))
      assert.strictEqual(creditTotals(invoice, wanted)?.totalMinor, amounts.totalMinor)
    }
  })
})
