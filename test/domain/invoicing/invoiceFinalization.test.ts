import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { dueDateOf, requireFinalizable } from "../../../src/domain/invoicing/InvoiceFinalization.ts"
import { assertPasses, errorsOf } from "../../support/assertions/decisions.ts"

const issuedAt = "2026-02-27T12:00:00.000Z"

describe("an invoice to finalize", () => {
  it("is a draft with a line and no negative total", () => {
    assert.isUndefined(errorsOf(requireFinalizable({ status: "DRAFT", billableCount: 1, totalMinor: 0 })))
  })

  it.each(["FINALIZED", "PAID", "VOID"] as const)("is not %s", (status) => {
    assert.deepStrictEqual(errorsOf(requireFinalizable({ status, billableCount: 1, totalMinor: 1 })), ["status state"])
  })

  it("has a line", () => {
    const decision = requireFinalizable({ status: "DRAFT", billableCount: 0, totalMinor: 0 })
    assert.deepStrictEqual(errorsOf(decision), ["billableCount min"])
  })

  it("has no negative total", () => {
    const decision = requireFinalizable({ status: "DRAFT", billableCount: 2, totalMinor: -1 })
    assert.deepStrictEqual(errorsOf(decision), ["totalMinor min"])
  })
})

describe("the due date of an invoice", () => {
  it("is the contract's payment term after the date of issue", () => {
    assertPasses(dueDateOf({}, issuedAt, 0), issuedAt)
    assertPasses(dueDateOf({}, issuedAt, 2), "2026-03-01T12:00:00.000Z")
  })

  it("is never before the date of issue, whatever the term", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 365 }), (days) => {
        assertPasses(dueDateOf({}, issuedAt, days), new Date(Date.parse(issuedAt) + days * 86_400_000).toISOString())
      })
    )
  })

  it("is the invoice's own if it has one, and not before the date of issue", () => {
    assertPasses(dueDateOf({ dueAt: issuedAt }, issuedAt, 30), issuedAt)
    assert.deepStrictEqual(errorsOf(dueDateOf({ dueAt: "2026-02-27T11:59:59.999Z" }, issuedAt, 30)), ["dueAt min"])
  })
})
