import { Schema } from "effect"
import { assert, describe, it } from "vitest"
import { ContractId } from "../../../src/domain/contracting/Contract.ts"
import { BillableId } from "../../../src/domain/invoicing/Billable.ts"
import { Explanation, encodeExplanation, makeLineExplainer } from "../../../src/domain/invoicing/Explanation.ts"
import { InvoiceId } from "../../../src/domain/invoicing/Invoice.ts"

const id = BillableId.make("bil_1")

const invoice = {
  id: InvoiceId.make("inv_1"),
  contract: ContractId.make("ctr_1"),
  status: "DRAFT",
  currencyCode: "KWD",
  subtotalMinor: 33,
  totalMinor: 34,
  billableCount: 2,
  createdAt: "2026-03-01T08:00:00.000Z",
  updatedAt: "2026-03-01T08:00:00.000Z"
} as const

describe("makeLineExplainer", () => {
  it("shows each product before and after rounding, and the running total", () => {
    const explain = makeLineExplainer()
    assert.deepStrictEqual(explain({ id, name: "Pump", quantity: 1.255, amountMinor: 10 }), {
      billable: id,
      name: "Pump",
      quantity: "1.255",
      amountMinor: 10,
      product: "12.55",
      roundedBy: "0.45",
      lineTotalMinor: 13,
      runningTotalMinor: 13
    })
    assert.deepInclude(explain({ id, name: "Credit", quantity: -0.3, amountMinor: 14 }), {
      product: "-4.2",
      roundedBy: "0.2",
      lineTotalMinor: -4,
      runningTotalMinor: 9
    })
  })

  it("starts every invoice at zero", () => {
    makeLineExplainer()({ id, name: "Pump", quantity: 1, amountMinor: 10 })
    const first = makeLineExplainer()({ id, name: "Pump", quantity: 1, amountMinor: 7 })
    assert.strictEqual(first.runningTotalMinor, 7)
  })
})

describe("encodeExplanation", () => {
  it("encodes the head, the lines in their order and the stored sums", () => {
    const explain = makeLineExplainer()
    const lines = [
      explain({ id, name: "Pump", quantity: 2, amountMinor: 15 }),
      explain({ id, name: "Valve", quantity: 1, amountMinor: 4 })
    ]
    const { text } = encodeExplanation(
      invoice,
      lines.map((line) => JSON.stringify(line))
    )
    assert.deepStrictEqual(JSON.parse(text), {
      invoice: "inv_1",
      currencyCode: "KWD",
      decimals: 3,
      rounding: "half away from zero, once for each line",
      lines,
      subtotalMinor: 33,
      totalMinor: 34
    })
    assert.isTrue(Schema.is(Explanation)(JSON.parse(text)))
  })

  it("encodes an invoice without lines", () => {
    assert.deepInclude(JSON.parse(encodeExplanation(invoice, []).text), { lines: [], totalMinor: 34 })
  })
})
