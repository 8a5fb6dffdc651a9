import { Schema } from "effect"
import { assert, describe, it } from "vitest"
import { ContractId } from "../../../src/domain/contracting/Contract.ts"
import { BillableId } from "../../../src/domain/invoicing/Billable.ts"
import { Explanation, InvoiceExplainer } from "../../../src/domain/invoicing/Explanation.ts"
import { InvoiceId } from "../../../src/domain/invoicing/Invoice.ts"
import { TaxRateId } from "../../../src/domain/taxes/TaxRate.ts"

const id = BillableId.make("bil_1")
const [standard, reduced] = [TaxRateId.make("tax_1"), TaxRateId.make("tax_2")]
const untaxed = { id, taxRates: [] }

const invoice = {
  id: InvoiceId.make("inv_1"),
  contract: ContractId.make("ctr_1"),
  status: "DRAFT",
  currencyCode: "KWD",
  subtotalMinor: 33,
  discountMinor: 0,
  taxes: [],
  taxMinor: 0,
  totalMinor: 34,
  paidMinor: 0,
  creditedMinor: 0,
  writtenOffMinor: 0,
  balanceMinor: 34,
  billableCount: 2,
  createdAt: "2026-03-01T08:00:00.000Z",
  updatedAt: "2026-03-01T08:00:00.000Z"
} as const

const rounding = "half away from zero, once for each line, each discount and each tax"

describe("explainLine", () => {
  it("shows each product before and after rounding, and the running total", () => {
    const explainer = new InvoiceExplainer()
    assert.deepStrictEqual(explainer.explainLine({ ...untaxed, name: "Pump", quantity: 1.255, amountMinor: 10 }), {
      billable: id,
      name: "Pump",
      quantity: "1.255",
      amountMinor: 10,
      product: "12.55",
      roundedBy: "0.45",
      discountMinor: 0,
      lineTotalMinor: 13,
      runningTotalMinor: 13
    })
    assert.deepInclude(explainer.explainLine({ ...untaxed, name: "Credit", quantity: -0.3, amountMinor: 14 }), {
      product: "-4.2",
      roundedBy: "0.2",
      lineTotalMinor: -4,
      runningTotalMinor: 9
    })
  })

  it("takes the discount off the rounded product", () => {
    const line = { ...untaxed, name: "Pump", quantity: 1.5, amountMinor: 11, discount: { percent: 50 } }
    assert.deepInclude(new InvoiceExplainer().explainLine(line), {
      product: "16.5",
      roundedBy: "0.5",
      discountMinor: 9,
      lineTotalMinor: 8,
      runningTotalMinor: 8
    })
  })
})

describe("encode", () => {
  it("encodes the head, the lines in their order and the stored sums", () => {
    const explainer = new InvoiceExplainer()
    const lines = [
      explainer.explainLine({ ...untaxed, name: "Pump", quantity: 2, amountMinor: 15 }),
      explainer.explainLine({ ...untaxed, name: "Valve", quantity: 1, amountMinor: 4 })
    ]
    const { text } = explainer.encode(
      invoice,
      lines.map((line) => JSON.stringify(line))
    )
    assert.deepStrictEqual(JSON.parse(text), {
      invoice: "inv_1",
      currencyCode: "KWD",
      decimals: 3,
      rounding,
      lines,
      subtotalMinor: 33,
      discountMinor: 0,
      taxSets: [{ taxRates: [], netMinor: 34, discountMinor: 0 }],
      taxes: [],
      taxMinor: 0,
      totalMinor: 34
    })
    assert.isTrue(Schema.is(Explanation)(JSON.parse(text)))
  })

  it("shows how the discount is split over the tax sets, and how each tax is rounded", () => {
    const explainer = new InvoiceExplainer()
    explainer.explainLine({ id, name: "Pump", quantity: 1, amountMinor: 201, taxRates: [standard] })
    explainer.explainLine({ id, name: "Book", quantity: 1, amountMinor: 100, taxRates: [reduced] })
    const taxed = {
      ...invoice,
      subtotalMinor: 301,
      discount: { amountMinor: 10 },
      discountMinor: 10,
      taxes: [
        { taxRates: [standard], name: "VAT 19 %", percent: 19, category: "S", baseMinor: 194, taxMinor: 37 },
        { taxRates: [reduced], name: "VAT 7 %", percent: 7, category: "S", baseMinor: 97, taxMinor: 7 }
      ],
      taxMinor: 44,
      totalMinor: 335
    } as const
    const explained = JSON.parse(explainer.encode(taxed, []).text)
    assert.deepInclude(explained, {
      subtotalMinor: 301,
      discountMinor: 10,
      taxSets: [
        { taxRates: [standard], netMinor: 201, discountMinor: 7 },
        { taxRates: [reduced], netMinor: 100, discountMinor: 3 }
      ],
      taxes: [
        { name: "VAT 19 %", percent: 19, baseMinor: 194, product: "36.86", roundedBy: "0.14", taxMinor: 37 },
        { name: "VAT 7 %", percent: 7, baseMinor: 97, product: "6.79", roundedBy: "0.21", taxMinor: 7 }
      ],
      taxMinor: 44,
      totalMinor: 335
    })
  })

  it("encodes an invoice without lines", () => {
    const explained = JSON.parse(new InvoiceExplainer().encode(invoice, []).text)
    assert.deepInclude(explained, { lines: [], taxSets: [], taxes: [], totalMinor: 34 })
  })
})
