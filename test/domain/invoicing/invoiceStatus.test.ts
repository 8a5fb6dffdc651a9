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

describe("The state machine of invoices", () => {
  for (const name of ["finalize", "pay", "void"] as const)
    for (const status of statuses) {
      const isAllowed = allowed[name].includes(status)
      it(`${isAllowed ? "allows" : "rejects"} ${name} from ${status}`, () => {
        const errors = errorsOf(requireInvoiceTransition(status, name))
        assert.deepStrictEqual(errors, isAllowed ? undefined : ["status state"])
      })
    }

  it("has exactly the transitions finalize, pay and void", () => {
    const targets = Object.entries(invoiceTransitions).map(([name, { to }]) => [name, to])
    assert.deepStrictEqual(targets, [
      ["finalize", "FINALIZED"],
      ["pay", "PAID"],
      ["void", "VOID"]
    ])
  })

  for (const status of statuses)
    it(`${status === "DRAFT" ? "allows" : "rejects"} edits in ${status}`, () => {
      const errors = errorsOf(requireEditableInvoice(status))
      assert.deepStrictEqual(errors, status === "DRAFT" ? undefined : ["status state"])
    })
})
