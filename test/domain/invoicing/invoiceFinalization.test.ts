import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { dueDateOf, requireFinalizable } from "../../../src/domain/invoicing/InvoiceFinalization.ts"
import { assertPasses, errorsOf } from "../../support/assertions/decisions.ts"

const issuedAt = "2026-02-27T12:00:00.000Z"

describe("requireFinalizable", () => {
  it("accepts a draft with one line and a total of zero", () => {
    assert.isUndefined(errorsOf(requireFinalizable({ status: "DRAFT", billableCount: 1, totalMinor: 0 })))
  })

  it.each(["FINALIZED", "PAID", "VOID"] as const)("rejects an invoice that is %s", (status) => {
    assert.deepStrictEqual(errorsOf(requireFinalizable({ status, billableCount: 1, totalMinor: 1 })), ["status state"])
  })

  it("rejects an invoice without lines", () => {
    const decision = requireFinalizable({ status: "DRAFT", billableCount: 0, totalMinor: 0 })
    assert.deepStrictEqual(errorsOf(decision), ["billableCount min"])
  })

  it("rejects a negative total", () => {
    const decision = requireFinalizable({ status: "DRAFT", billableCount: 2, totalMinor: -1 })
    assert.deepStrictEqual(errorsOf(decision), ["totalMinor min"])
  })
})

describe("dueDateOf", () => {
  it("adds the payment term of the contract to the date of issue", () => {
    assertPasses(dueDateOf({}, issuedAt, 0), issuedAt)
    assertPasses(dueDateOf({}, issuedAt, 2), "2026-03-01T12:00:00.000Z")
  })

  it("adds any payment term of up to 365 days", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 365 }), (days) => {
        assertPasses(dueDateOf({}, issuedAt, days), new Date(Date.parse(issuedAt) + days * 86_400_000).toISOString())
      })
    )
  })

  it("returns the due date of the invoice if it has one, and rejects one before the date of issue", () => {
    assertPasses(dueDateOf({ dueAt: issuedAt }, issuedAt, 30), issuedAt)
    assert.deepStrictEqual(errorsOf(dueDateOf({ dueAt: "2026-02-27T11:59:59.999Z" }, issuedAt, 30)), ["dueAt min"])
  })
})
