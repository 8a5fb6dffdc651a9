import { assert, describe, it } from "vitest"
import { ContractId } from "../../../../src/domain/contracting/Contract.ts"
import { draftOf } from "../../../../src/domain/invoicing/draft/InvoiceDraft.ts"
import { assertPasses, errorsOf } from "../../../support/assertions/decisions.ts"

const id = ContractId.make("ctr_000000000000000000000001")
const contract = { id, status: "ACTIVE", currencyCode: "EUR" } as const

describe("A new draft invoice", () => {
  it("is empty, in the currency of its contract, with the requested due date", () => {
    const dueAt = "2026-12-01T00:00:00.000Z"
    assertPasses(draftOf(contract, { contractId: id, dueAt }), {
      contract: id,
      status: "DRAFT",
      currencyCode: "EUR",
      subtotalMinor: 0,
      discountMinor: 0,
      taxes: [],
      taxMinor: 0,
      totalMinor: 0,
      paidMinor: 0,
      creditedMinor: 0,
      writtenOffMinor: 0,
      balanceMinor: 0,
      billableCount: 0,
      dueAt
    })
  })

  it("accepts only the currency of its contract", () => {
    assert.isUndefined(errorsOf(draftOf(contract, { contractId: id, currencyCode: "EUR" })))
    const decision = draftOf(contract, { contractId: id, currencyCode: "USD" })
    assert.deepStrictEqual(errorsOf(decision), ["currencyCode currency"])
  })

  it("is accepted under an ACTIVE or ENDED contract, and rejected under a DRAFT", () => {
    assert.isUndefined(errorsOf(draftOf({ ...contract, status: "ENDED" }, { contractId: id })))
    const decision = draftOf({ ...contract, status: "DRAFT" }, { contractId: id })
    assert.deepStrictEqual(errorsOf(decision), ["contractId state"])
  })

  it("needs a discount for a reason", () => {
    const reasonOnly = { contractId: id, discountReason: "Loyalty" }
    assert.deepStrictEqual(errorsOf(draftOf(contract, reasonOnly)), ["discount required"])
    assert.isUndefined(errorsOf(draftOf(contract, { ...reasonOnly, discount: { percent: 1 } })))
  })
})
