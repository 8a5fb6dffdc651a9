import { assert, describe, it } from "vitest"
import { ContractId } from "../../../src/domain/contracting/Contract.ts"
import { draftOf } from "../../../src/domain/invoicing/draft/InvoiceDraft.ts"
import { dueDateOf, requireFinalizable } from "../../../src/domain/invoicing/InvoiceFinalization.ts"
import { requireEditableInvoice, requireInvoiceTransition } from "../../../src/domain/invoicing/InvoiceStatus.ts"
import { totalsAfter } from "../../../src/domain/invoicing/InvoiceTotals.ts"
import { hasReference } from "../../../src/domain/invoicing/ReferenceIndex.ts"
import { maxMinor } from "../../../src/domain/money/Money.ts"
import { messagesOf } from "../../support/assertions/decisions.ts"
import { defaultParties } from "../../support/fixtures/invoiceDocuments.ts"

const contractId = ContractId.make("ctr_1")
const empty = { subtotalMinor: 0, discountMinor: 0, taxes: [], taxMinor: 0, totalMinor: 0, billableCount: 0 }

describe("draftOf", () => {
  it("says which contracts can be invoiced", () => {
    const contract = { id: contractId, status: "DRAFT", currencyCode: "EUR" } as const
    assert.deepStrictEqual(messagesOf(draftOf(contract, { contractId })), [
      "contractId state: is a DRAFT contract; only ACTIVE and ENDED contracts can be invoiced"
    ])
  })

  it("names the currency of the contract", () => {
    const contract = { id: contractId, status: "ACTIVE", currencyCode: "EUR" } as const
    assert.deepStrictEqual(messagesOf(draftOf(contract, { contractId, currencyCode: "USD" })), [
      "currencyCode currency: must be EUR, the currency of the contract, but is USD"
    ])
  })
})

describe("requireFinalizable", () => {
  const draft = { status: "DRAFT", billableCount: 1, subtotalMinor: 1, totalMinor: 1, taxes: [] } as const

  it("says what a draft needs", () => {
    const empty = { ...draft, billableCount: 0, subtotalMinor: 0, totalMinor: 0 }
    assert.deepStrictEqual(messagesOf(requireFinalizable(empty, defaultParties)), [
      "billableCount min: is 0; add at least one billable before finalizing"
    ])
    const negative = { ...draft, subtotalMinor: -1, totalMinor: -1 }
    assert.deepStrictEqual(messagesOf(requireFinalizable(negative, defaultParties)), [
      "totalMinor min: is -1; only an invoice with a total of at least 0 can be finalized"
    ])
  })

  it("says how large a discount can be", () => {
    const discounted = { ...draft, discount: { amountMinor: 2 } }
    assert.deepStrictEqual(messagesOf(requireFinalizable(discounted, defaultParties)), [
      "discount.amountMinor max: must be at most 1, the sum of the lines, but is 2"
    ])
  })

  it("says where a missing VAT number belongs", () => {
    const tax = { taxRates: ["tax_1"], name: "Reverse charge", percent: 0, category: "AE", baseMinor: 1, taxMinor: 0 }
    const reverseCharge = { ...draft, taxes: [{ ...tax, category: "AE" as const }] }
    assert.deepStrictEqual(
      messagesOf(requireFinalizable(reverseCharge, { ...defaultParties, client: { name: "N" } })),
      [
        "client.address.vatNumber required: is required for taxes of category AE; add it to the first address of the client"
      ]
    )
  })
})

describe("dueDateOf", () => {
  it("says that an invoice is not due before it is issued", () => {
    const decision = dueDateOf({ dueAt: "2026-01-01T00:00:00.000Z" }, "2026-01-02T00:00:00.000Z", 30, "UTC")
    assert.deepStrictEqual(messagesOf(decision), [
      "dueAt min: must not be before the date of issue, 2026-01-02T00:00:00.000Z, but is 2026-01-01T00:00:00.000Z"
    ])
  })
})

describe("requireInvoiceTransition", () => {
  it("names the current status and those that allow the transition", () => {
    assert.deepStrictEqual(messagesOf(requireInvoiceTransition("PAID", "void")), [
      "status state: is PAID; only a DRAFT or FINALIZED invoice can be voided"
    ])
    assert.deepStrictEqual(messagesOf(requireInvoiceTransition("DRAFT", "pay")), [
      "status state: is DRAFT; only a FINALIZED invoice can be paid"
    ])
  })
})

describe("requireEditableInvoice", () => {
  it("names the current status", () => {
    assert.deepStrictEqual(messagesOf(requireEditableInvoice("FINALIZED")), [
      "status state: is FINALIZED; only a DRAFT invoice and its billables can be changed or deleted"
    ])
  })
})

describe("totalsAfter", () => {
  const rates = new Map()

  it("names the bounds of a total", () => {
    const value = { ...empty, subtotalMinor: maxMinor, totalMinor: maxMinor, billableCount: 1 }
    const change = { lines: [{ taxRates: [], netMinor: 1, lineCount: 1 }], field: "billables" }
    assert.deepStrictEqual(messagesOf(totalsAfter({ value, taxSets: [] }, change, rates, 10)), [
      "billables max: would bring the total of the invoice beyond ±9007199254740991"
    ])
  })

  it("names the number of tax sets", () => {
    const lines = Array.from({ length: 101 }, (_, n) => ({ taxRates: [`tax_${n}`], netMinor: 1, lineCount: 1 }))
    const decision = totalsAfter({ value: empty, taxSets: [] }, { lines, field: "billables" }, rates, 1000)
    assert.deepStrictEqual(messagesOf(decision), [
      "billables maxItems: would give the invoice more than 100 combinations of tax rates"
    ])
  })
})

describe("hasReference", () => {
  it("needs both the type and the identifier", () => {
    assert.isTrue(hasReference({ referenceType: "order", referenceId: "7" }))
    assert.isFalse(hasReference({ referenceType: "order" }))
    assert.isFalse(hasReference({ referenceId: "7" }))
  })
})
