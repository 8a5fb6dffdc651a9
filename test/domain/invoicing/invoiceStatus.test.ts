import { assert, describe, it } from "vitest"
import {
  type InvoiceStatus,
  type InvoiceTransition,
  invoiceTransitions,
  requireEditableInvoice,
  requireInvoiceTransition
} from "../../../src/domain/invoicing/InvoiceStatus.ts"
import { errorsOf } from "../../support/assertions/decisions.ts"

const statuses: ReadonlyArray<InvoiceStatus> = ["DRAFT", "FINALIZED", "PAID", "VOID"]

const allowed: Readonly<Record<InvoiceTransition, ReadonlyArray<InvoiceStatus>>> = {
  finalize: ["DRAFT"],
  pay: ["FINALIZED"],
  void: ["DRAFT", "FINALIZED"]
}

describe("an invoice", () => {
  for (const name of ["finalize", "pay", "void"] as const)
    for (const status of statuses) {
      const isAllowed = allowed[name].includes(status)
      it(`that is ${status} ${isAllowed ? "can" : "cannot"} ${name}`, () => {
        const errors = errorsOf(requireInvoiceTransition(status, name))
        assert.deepStrictEqual(errors, isAllowed ? undefined : ["status state"])
      })
    }

  it("has no other transitions, and each leads to its status", () => {
    const targets = Object.entries(invoiceTransitions).map(([name, { to }]) => [name, to])
    assert.deepStrictEqual(targets, [
      ["finalize", "FINALIZED"],
      ["pay", "PAID"],
      ["void", "VOID"]
    ])
  })

  it.each(statuses)("can be edited only as a DRAFT: %s", (status) => {
    const errors = errorsOf(requireEditableInvoice(status))
    assert.deepStrictEqual(errors, status === "DRAFT" ? undefined : ["status state"])
  })
})
