import { assert, describe, it } from "vitest"
import { type CreditNoteBody, startPayer } from "../../support/fixtures/payments.ts"
import { integerBetween, makeRandom } from "../../support/fixtures/randomInvoices.ts"
import { taxRateMaker } from "../../support/fixtures/taxRates.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

const invoiceCount = 30
const sums = ["subtotalMinor", "discountMinor", "taxMinor", "totalMinor"] as const

describe("The amounts of random credit notes", () => {
  const fixture = useFixture(startServiceWithPool)

  it("add up to their invoice, whatever their order and size, with discounts and several rates", {
    timeout: 120_000
  }, async () => {
    const { service } = fixture()
    const tenant = await service.newTenant()
    const payer = await startPayer(service, tenant)
    const { createTaxRate } = taxRateMaker(service, tenant)
    const random = makeRandom(18)
    const between = (min: number, max: number) => integerBetween(random, min, max)
    const vat = [
      (await createTaxRate({ name: "VAT 19 %", percent: 19, category: "S" })).id,
      (await createTaxRate({ name: "VAT 7.7 %", percent: 7.7, category: "S" })).id
    ]
    const city = (await createTaxRate({ name: "City tax", percent: 3.3333 })).id
    const ratesOf = () => [[], [vat[0]], [vat[1]], [vat[0], city]][between(0, 3)] ?? []
    const discountOf = () => [{}, { discount: { percent: 12.5 } }, { discount: { amountMinor: 7 } }][between(0, 2)]

    /** A finalized invoice with random lines. */
    const issue = async () => {
      const { id } = await payer.draft({ contractId: payer.contractId, ...discountOf() })
      const lines = Array.from({ length: between(1, 5) }, () => ({
        quantity: between(1, 40) / 8,
        amountMinor: between(10, 5000),
        taxRateIds: ratesOf()
      }))
      const added = await payer.add(id, ...lines)
      const invoice = await payer.transition(id, "finalize")
      return {
        invoice,
        lines: added.map(({ id: line }, index) => ({ id: line, quantity: lines[index]?.quantity ?? 1 }))
      }
    }

    /** Notes of random lines, by quantity or by amount. What is no longer left is rejected. */
    const creditParts = async ({ invoice, lines }: Awaited<ReturnType<typeof issue>>) => {
      const notes: Array<CreditNoteBody> = []
      for (let step = between(1, 4); step > 0; step--) {
        const line = lines[between(0, lines.length - 1)] ?? assert.fail("no line")
        const part = between(0, 1) === 0 ? { quantity: line.quantity / 4 } : { amountMinor: between(1, 900) }
        const content = { invoiceId: invoice.id, reason: "Part", lines: [{ billableId: line.id, ...part }] }
        const { body, status, text } = await payer.call("POST", "/credit-notes", content)
        assert.include([201, 400], status, text)
        if (status === 201) notes.push(await payer.finalizeNote(body.data.id))
      }
      return notes
    }

    let parts = 0
    for (let count = 0; count < invoiceCount; count++) {
      const issued = await issue()
      const notes = await creditParts(issued)
      parts += notes.length
      const { body, status } = await payer.call("POST", "/credit-notes", {
        ...{ invoiceId: issued.invoice.id, reason: "Rest", full: true }
      })
      // Parts can have credited everything already.
      if (status === 201) notes.push(await payer.finalizeNote(body.data.id))
      else assert.strictEqual(body.details[0].constraint, "state", JSON.stringify(body))
      for (const name of sums)
        assert.strictEqual(
          notes.reduce((sum, note) => sum + note[name], 0),
          issued.invoice[name],
          `${name} of invoice ${count}`
        )
      for (const tax of issued.invoice.taxes) {
        const rows = notes.flatMap(({ taxes }) =>
          taxes.filter(({ name, percent }) => name === tax.name && percent === tax.percent)
        )
        assert.strictEqual(
          rows.reduce((sum, { baseMinor }) => sum + baseMinor, 0),
          tax.baseMinor
        )
        assert.strictEqual(
          rows.reduce((sum, { taxMinor }) => sum + taxMinor, 0),
          tax.taxMinor
        )
      }
      assert.deepInclude(await payer.read(issued.invoice.id), { status: "PAID", balanceMinor: 0 })
    }
    assert.isAbove(parts, invoiceCount)
  })
})
