import { assert, describe, it } from "vitest"
import { ContractId } from "../../../src/domain/contracting/Contract.ts"
import { draftOf } from "../../../src/domain/invoicing/InvoiceDraft.ts"
import { dueDateOf, requireFinalizable } from "../../../src/domain/invoicing/InvoiceFinalization.ts"
import { requireEditableInvoice, requireInvoiceTransition } from "../../../src/domain/invoicing/InvoiceStatus.ts"
import { totalsAfter } from "../../../src/domain/invoicing/InvoiceTotals.ts"
import { hasReference } from "../../../src/domain/invoicing/ReferenceIndex.ts"
import { maxMinor } from "../../../src/domain/money/Money.ts"
import { messagesOf } from "../../support/assertions/decisions.ts"

const contractId = ContractId.make("ctr_1")

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
  it("says what a draft needs", () => {
    assert.deepStrictEqual(messagesOf(requireFinalizable({ status: "DRAFT", billableCount: 0, totalMinor: 0 })), [
      "billableCount min: is 0; add at least one billable before finalizing"
    ])
    assert.deepStrictEqual(messagesOf(requireFinalizable({ status: "DRAFT", billableCount: 1, totalMinor: -1 })), [
      "totalMinor min: is -1; only an invoice with a total of at least 0 can be finalized"
    ])
  })
})

describe("dueDateOf", () => {
  it("says that an invoice is not due before it is issued", () => {
    const decision = dueDateOf({ dueAt: "2026-01-01T00:00:00.000Z" }, "2026-01-02T00:00:00.000Z", 30)
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
  it("names the bounds of a total", () => {
    const change = { amounts: [1], lineDelta: 1, field: "billables" }
    assert.deepStrictEqual(messagesOf(totalsAfter({ totalMinor: maxMinor, billableCount: 1 }, change, 10)), [
      "billables max: would bring the total of the invoice beyond ±9007199254740991"
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
