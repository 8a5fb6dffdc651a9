import { assert, describe, it } from "vitest"
import type { ErrorDetail } from "../../../src/domain/Errors.ts"
import { InvoiceId } from "../../../src/domain/invoicing/Invoice.ts"
import {
  type Allocation,
  allocate,
  maxAllocations,
  refund,
  unallocatedErrors
} from "../../../src/domain/payments/Allocation.ts"
import {
  allocatedSumErrors,
  type CreatePayment,
  duplicateErrors,
  requireRecorded,
  requireReversible,
  toPayment
} from "../../../src/domain/payments/Payment.ts"
import { assertPasses, messagesOf } from "../../support/assertions/decisions.ts"

const invoice = (n: number) => InvoiceId.make(`inv_${n}`)
const allocation = (n: number, amountMinor: number): Allocation => ({ invoice: invoice(n), amountMinor })
const wanted = (n: number, amountMinor: number) => ({ invoiceId: invoice(n), amountMinor })
const textsOf = (errors: ReadonlyArray<ErrorDetail>) =>
  errors.map(({ constraint, field, message }) => `${field} ${constraint}: ${message}`)

const recorded = { status: "RECORDED", unallocatedMinor: 50, refundedMinor: 0, allocations: [] } as const

describe("A new payment", () => {
  // The schema has checked the identifiers.
  const request = { clientId: "clnt_1", currencyCode: "EUR", amountMinor: 100 } as typeof CreatePayment.Type
  const at = "2026-11-20T10:00:00.000Z"

  it("is received now, settles nothing and is left as a whole", () => {
    assert.deepStrictEqual(toPayment(request, at, "alice"), {
      receivedAt: at,
      currencyCode: "EUR",
      amountMinor: 100,
      client: request.clientId,
      status: "RECORDED",
      allocations: [],
      unallocatedMinor: 100,
      refundedMinor: 0,
      createdBy: "alice"
    })
  })

  it("keeps its own time and what its allocations leave", () => {
    const receivedAt = "2026-11-01T00:00:00.000Z"
    const payment = toPayment({ ...request, receivedAt, allocations: [wanted(1, 30), wanted(2, 60)] }, at, undefined)
    assert.deepInclude(payment, { receivedAt, unallocatedMinor: 10 })
    assert.deepStrictEqual(payment.allocations, [allocation(1, 30), allocation(2, 60)])
    assert.notProperty(payment, "createdBy")
  })

  it("settles at most its amount", () => {
    assert.deepStrictEqual(allocatedSumErrors(100, [wanted(1, 40), wanted(2, 60)]), [])
    assert.deepStrictEqual(textsOf(allocatedSumErrors(100, [wanted(1, 40), wanted(2, 61)])), [
      "allocations max: must add up to at most 100, the amount of the payment, but add up to 101"
    ])
    const huge = Number.MAX_SAFE_INTEGER
    assert.deepStrictEqual(textsOf(allocatedSumErrors(100, [wanted(1, huge), wanted(2, huge)])), [
      `allocations max: must add up to at most 100, the amount of the payment, but are beyond ${huge}`
    ])
  })

  it("names the payment that has its external identifier", () => {
    assert.deepStrictEqual(duplicateErrors(undefined), [])
    assert.deepStrictEqual(textsOf(duplicateErrors("pay_7")), [
      "externalId unique: is already booked as the payment pay_7"
    ])
  })
})

describe("A recorded payment", () => {
  it("can be changed until it is reversed", () => {
    assertPasses(requireRecorded(recorded), undefined)
    assert.deepStrictEqual(messagesOf(requireRecorded({ status: "REVERSED" })), [
      "status state: is REVERSED; only a RECORDED payment can be changed"
    ])
  })

  it("can be reversed once, and not after a refund", () => {
    assertPasses(requireReversible(recorded), undefined)
    assert.deepStrictEqual(messagesOf(requireReversible({ ...recorded, status: "REVERSED" })), [
      "status state: is REVERSED; only a RECORDED payment can be changed"
    ])
    assert.deepStrictEqual(messagesOf(requireReversible({ ...recorded, refundedMinor: 1 })), [
      "refundedMinor state: is 1; a payment cannot be reversed after a refund"
    ])
  })

  it("gives at most what is left of it", () => {
    assert.deepStrictEqual(unallocatedErrors("payment", recorded, 50), [])
    assert.deepStrictEqual(textsOf(unallocatedErrors("credit note", recorded, 51)), [
      "amountMinor max: must be at most 50, what is left of the credit note, but is 51"
    ])
  })

  it("adds an allocation to an earlier one of the same invoice, from what is left", () => {
    const before = { ...recorded, allocations: [allocation(1, 10), allocation(2, 20)] }
    const withAllocations = (...allocations: ReadonlyArray<Allocation>) => ({
      ...before,
      allocations,
      unallocatedMinor: 45
    })
    assertPasses(allocate("payment", before, allocation(2, 5)), withAllocations(allocation(1, 10), allocation(2, 25)))
    assertPasses(
      allocate("payment", before, allocation(3, 5)),
      withAllocations(...before.allocations, allocation(3, 5))
    )
  })

  it(`settles at most ${maxAllocations} invoices`, () => {
    const full = Array.from({ length: maxAllocations }, (_, n) => allocation(n, 1))
    const settle = (allocations: ReadonlyArray<Allocation>, added: Allocation) =>
      messagesOf(allocate("payment", { ...recorded, allocations }, added))
    assert.isUndefined(settle(full.slice(1), allocation(0, 1)))
    assert.isUndefined(settle(full, allocation(0, 1)))
    assert.deepStrictEqual(settle(full, allocation(maxAllocations, 1)), [
      `invoiceId maxItems: must be one of the ${maxAllocations} invoices of the payment; more are not possible`
    ])
  })

  it("is refunded from what is left", () => {
    assert.deepStrictEqual(refund({ ...recorded, refundedMinor: 3 }, 20), {
      ...recorded,
      unallocatedMinor: 30,
      refundedMinor: 23
    })
  })
})
