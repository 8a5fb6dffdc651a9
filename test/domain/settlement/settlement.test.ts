import fc from "fast-check"
import { assert, describe, it } from "vitest"
import type { Invoice } from "../../../src/domain/invoicing/Invoice.ts"
import {
  type AllocatedInvoice,
  allocationErrors,
  requireWriteOff,
  requireWrittenOff,
  settleInvoice
} from "../../../src/domain/settlement/Settlement.ts"
import { assertPasses, messagesOf } from "../../support/assertions/decisions.ts"

const at = "2026-11-20T10:00:00.000Z"

const invoiceOf = (fields: Partial<Invoice> = {}) =>
  // Settling depends on the amounts and the status alone.
  ({
    status: "FINALIZED",
    totalMinor: 1000,
    paidMinor: 0,
    creditedMinor: 0,
    writtenOffMinor: 0,
    balanceMinor: 1000,
    ...fields
  }) as Invoice

describe("settleInvoice", () => {
  it("keeps an invoice FINALIZED while it has a balance", () => {
    assert.deepStrictEqual(settleInvoice(invoiceOf(), { paidMinor: 400 }, at), {
      value: invoiceOf({ paidMinor: 400, balanceMinor: 600 }),
      action: "updated"
    })
  })

  it("marks an invoice as PAID at the moment its balance becomes 0", () => {
    const before = invoiceOf({ paidMinor: 400, balanceMinor: 600 })
    assert.deepStrictEqual(settleInvoice(before, { paidMinor: 600 }, at), {
      value: invoiceOf({ paidMinor: 1000, balanceMinor: 0, status: "PAID", paidAt: at }),
      action: "paid"
    })
  })

  it("reopens a PAID invoice that has a balance again", () => {
    const before = invoiceOf({ paidMinor: 1000, balanceMinor: 0, status: "PAID", paidAt: at })
    const { action, value } = settleInvoice(before, { paidMinor: -300 }, "2026-12-01T00:00:00.000Z")
    assert.deepStrictEqual(value, invoiceOf({ paidMinor: 700, balanceMinor: 300 }))
    assert.notProperty(value, "paidAt")
    assert.strictEqual(action, "reopened")
  })

  it("reports a write-off as such, whether it closes the invoice or not", () => {
    assert.deepInclude(settleInvoice(invoiceOf(), { writtenOffMinor: 1 }, at), { action: "written_off" })
    const closed = settleInvoice(invoiceOf(), { writtenOffMinor: 1000 }, at)
    assert.strictEqual(closed.action, "written_off")
    assert.deepInclude(closed.value, { status: "PAID", paidAt: at, balanceMinor: 0 })
  })

  it("keeps the time of payment of an invoice that stays PAID", () => {
    const before = invoiceOf({
      writtenOffMinor: 1000,
      balanceMinor: 0,
      status: "PAID",
      paidAt: "2026-01-01T00:00:00.000Z"
    })
    const { value } = settleInvoice(before, { writtenOffMinor: -1000, paidMinor: 1000 }, at)
    assert.strictEqual(value.paidAt, "2026-01-01T00:00:00.000Z")
  })

  it("is PAID exactly while the settled sums equal the total, in any order of changes", () => {
    const change = fc.record({
      sum: fc.constantFrom("paidMinor", "creditedMinor", "writtenOffMinor"),
      share: fc.double({ min: -1, max: 1, noNaN: true })
    })
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000_000 }),
        fc.array(change, { maxLength: 20 }),
        (totalMinor, changes) => {
          let invoice = invoiceOf({ totalMinor, balanceMinor: totalMinor })
          for (const { share, sum } of changes) {
            const room = share < 0 ? invoice[sum] : invoice.balanceMinor
            invoice = settleInvoice(invoice, { [sum]: Math.round(room * share) }, at).value
            const settled = invoice.paidMinor + invoice.creditedMinor + invoice.writtenOffMinor
            assert.strictEqual(invoice.balanceMinor, totalMinor - settled)
            assert.strictEqual(invoice.status, settled === totalMinor ? "PAID" : "FINALIZED")
            assert.strictEqual(invoice.paidAt !== undefined, invoice.status === "PAID")
          }
        }
      )
    )
  })
})

describe("allocationErrors", () => {
  const payer = { source: "payment", client: "clnt_1", currencyCode: "EUR" } as const
  const found = (fields: Partial<AllocatedInvoice["invoice"]> = {}, client = "clnt_1"): AllocatedInvoice => ({
    client,
    invoice: { status: "FINALIZED", currencyCode: "EUR", balanceMinor: 500, ...fields } as AllocatedInvoice["invoice"]
  })
  const errorsOf = (amountMinor: number, invoice: AllocatedInvoice | undefined, path = "") =>
    allocationErrors(path, amountMinor, invoice, payer).map(
      ({ constraint, field, message }) => `${field} ${constraint}: ${message}`
    )

  it("accepts up to the balance of a FINALIZED invoice of the same client and currency", () => {
    assert.deepStrictEqual(errorsOf(500, found()), [])
    assert.deepStrictEqual(errorsOf(1, found()), [])
  })

  it.each([
    ["an unknown invoice", undefined, ["invoiceId exists: does not exist in this tenant"]],
    ["another client's", found({}, "clnt_2"), ["invoiceId exists: is not an invoice to the client clnt_1"]],
    ["a draft", found({ status: "DRAFT" }), ["invoiceId state: is DRAFT; only a FINALIZED invoice can be settled"]],
    ["a paid one", found({ status: "PAID" }), ["invoiceId state: is PAID; only a FINALIZED invoice can be settled"]],
    ["a void one", found({ status: "VOID" }), ["invoiceId state: is VOID; only a FINALIZED invoice can be settled"]],
    ["another currency", found({ currencyCode: "CHF" }), ["invoiceId currency: is in CHF, but the payment is in EUR"]],
    [
      "more than the balance",
      found({ balanceMinor: 99 }),
      ["amountMinor max: must be at most 99, the balance of the invoice, but is 100"]
    ]
  ])("rejects %s", (_, invoice, expected) => {
    assert.deepStrictEqual(errorsOf(100, invoice), expected)
  })

  it("names the allocation of a list", () => {
    const path = "allocations[2]."
    assert.deepStrictEqual(errorsOf(1, undefined, path), [
      "allocations[2].invoiceId exists: does not exist in this tenant"
    ])
    assert.deepStrictEqual(errorsOf(501, found(), path), [
      "allocations[2].amountMinor max: must be at most 500, the balance of the invoice, but is 501"
    ])
  })
})

describe("requireWriteOff", () => {
  it("takes the whole balance unless an amount is given", () => {
    assertPasses(requireWriteOff(invoiceOf({ balanceMinor: 300 })), 300)
    assertPasses(requireWriteOff(invoiceOf({ balanceMinor: 300 }), 300), 300)
    assertPasses(requireWriteOff(invoiceOf({ balanceMinor: 300 }), 1), 1)
  })

  it("rejects more than the balance", () => {
    assert.deepStrictEqual(messagesOf(requireWriteOff(invoiceOf({ balanceMinor: 300 }), 301)), [
      "amountMinor max: must be at most 300, the balance of the invoice, but is 301"
    ])
  })

  it.each(["DRAFT", "PAID", "VOID"] as const)("rejects a %s invoice", (status) => {
    assert.deepStrictEqual(messagesOf(requireWriteOff(invoiceOf({ status }))), [
      `status state: is ${status}; only a FINALIZED invoice with a balance can be written off`
    ])
  })

  it("rejects a FINALIZED invoice without a balance", () => {
    assert.deepStrictEqual(messagesOf(requireWriteOff(invoiceOf({ balanceMinor: 0 }))), [
      "status state: is FINALIZED; only a FINALIZED invoice with a balance can be written off"
    ])
  })
})

describe("requireWrittenOff", () => {
  it("returns what was written off, and rejects an invoice without any", () => {
    assertPasses(requireWrittenOff(invoiceOf({ writtenOffMinor: 7 })), 7)
    assert.deepStrictEqual(messagesOf(requireWrittenOff(invoiceOf())), [
      "writtenOffMinor state: is 0; nothing of this invoice is written off"
    ])
  })
})
