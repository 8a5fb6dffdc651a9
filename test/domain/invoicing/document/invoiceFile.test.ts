import { assert, describe, it } from "vitest"
import { ContractId } from "../../../../src/domain/contracting/Contract.ts"
import { pdfNameOf } from "../../../../src/domain/invoicing/document/FileName.ts"
import { asVariant, variantOf } from "../../../../src/domain/invoicing/document/InvoiceFile.ts"
import { InvoiceId } from "../../../../src/domain/invoicing/Invoice.ts"

const invoice = {
  id: InvoiceId.make("inv_1"),
  contract: ContractId.make("ctr_1"),
  status: "PAID",
  invoiceNumber: "INV-7",
  currencyCode: "EUR",
  subtotalMinor: 1,
  discountMinor: 0,
  taxes: [],
  taxMinor: 0,
  totalMinor: 1,
  paidMinor: 1,
  creditedMinor: 0,
  writtenOffMinor: 0,
  balanceMinor: 0,
  billableCount: 1,
  createdAt: "2026-03-01T08:00:00.000Z",
  updatedAt: "2026-03-01T08:00:00.000Z"
} as const

describe("variantOf", () => {
  it("is ISSUED for an invoice with a number, and VOID once it is void", () => {
    for (const status of ["FINALIZED", "PAID"] as const)
      assert.strictEqual(variantOf({ invoiceNumber: "INV-7", status }), "ISSUED")
    assert.strictEqual(variantOf({ invoiceNumber: "INV-7", status: "VOID" }), "VOID")
  })

  it("is undefined for an invoice that was never issued", () => {
    for (const status of ["DRAFT", "VOID"] as const) assert.isUndefined(variantOf({ status }))
  })
})

describe("asVariant", () => {
  it("gives the invoice the status that the variant shows", () => {
    assert.deepStrictEqual(asVariant(invoice, "ISSUED"), { ...invoice, status: "FINALIZED" })
    assert.deepStrictEqual(asVariant(invoice, "VOID"), { ...invoice, status: "VOID" })
  })
})

describe("pdfNameOf", () => {
  it.each<[invoiceNumber: string | undefined, name: string]>([
    ["INV-2026-000042", "INV-2026-000042.pdf"],
    ["7.a_B", "7.a_B.pdf"],
    ["RE 1/2 é", "RE_1_2__.pdf"],
    [undefined, "inv_1.pdf"]
  ])("names the file of the number %s %s", (invoiceNumber, name) => {
    const { id } = invoice
    assert.strictEqual(pdfNameOf(invoiceNumber === undefined ? { id } : { id, invoiceNumber }), name)
  })
})
