import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { isPayable, pageStatuses, pageStatusOf } from "../../../src/domain/clientPage/PageStatus.ts"
import { balanceOf } from "../../../src/domain/invoicing/Invoice.ts"
import { localDateOf } from "../../../src/domain/locale/TimeZone.ts"

const now = "2026-11-17T12:00:00.000Z"
const none = { paidMinor: 0, creditedMinor: 0, writtenOffMinor: 0, creditNotesMinor: 0 }
const finalized = { ...none, status: "FINALIZED", totalMinor: 1000, dueAt: "2026-12-01T00:00:00.000Z" } as const
const paid = { ...finalized, status: "PAID" } as const

const statusOf = (fields: object = {}, at = now, timeZone = "UTC") =>
  pageStatusOf({ ...finalized, ...fields }, at, timeZone)

const zones = fc.constantFrom("UTC", "Europe/Berlin", "America/Los_Angeles", "Pacific/Kiritimati", "Asia/Kolkata")
const times = fc
  .date({ min: new Date("2020-01-01"), max: new Date("2035-01-01"), noInvalidDate: true })
  .map((date) => date.toISOString())

const invoices = fc
  .record({
    status: fc.constantFrom("FINALIZED", "PAID", "VOID"),
    totalMinor: fc.nat(1000),
    paidMinor: fc.nat(1000),
    creditedMinor: fc.nat(1000),
    writtenOffMinor: fc.nat(1000),
    creditNotesMinor: fc.nat(1000)
  })
  .chain((amounts) => fc.record({ dueAt: times }).map(({ dueAt }) => ({ ...amounts, dueAt })))

describe("The status of a page", () => {
  it("is OPEN until something is paid, and PARTIALLY_PAID then", () => {
    assert.strictEqual(statusOf(), "OPEN")
    assert.strictEqual(statusOf({ creditedMinor: 10, creditNotesMinor: 10 }), "OPEN")
    assert.strictEqual(statusOf({ paidMinor: 10 }), "PARTIALLY_PAID")
  })

  it("is OVERDUE from the day after the due date on, in the time zone of the tenant", () => {
    const dueAt = "2026-11-17T23:30:00.000Z"
    assert.strictEqual(statusOf({ dueAt }, "2026-11-17T23:59:59.999Z"), "OPEN")
    assert.strictEqual(statusOf({ dueAt }, "2026-11-18T00:00:00.000Z"), "OVERDUE")
    assert.strictEqual(statusOf({ dueAt }, "2026-11-18T12:00:00.000Z", "Europe/Berlin"), "OPEN")
    assert.strictEqual(statusOf({ dueAt, paidMinor: 10 }, "2026-11-20T00:00:00.000Z"), "OVERDUE")
  })

  it("is PAID or CREDITED by what settled the invoice, and SETTLED if it was only written off", () => {
    assert.strictEqual(statusOf({ ...paid, paidMinor: 1000 }), "PAID")
    assert.strictEqual(statusOf({ ...paid, paidMinor: 990, writtenOffMinor: 10 }), "PAID")
    assert.strictEqual(statusOf({ ...paid, totalMinor: 0 }), "PAID")
    assert.strictEqual(statusOf({ ...paid, creditedMinor: 1000, creditNotesMinor: 1000 }), "CREDITED")
    assert.strictEqual(statusOf({ ...paid, writtenOffMinor: 1000 }), "SETTLED")
  })

  it("is CREDITED also if the invoice was paid before, and PAID if the credit is of another invoice", () => {
    assert.strictEqual(statusOf({ ...paid, paidMinor: 1000, creditNotesMinor: 1000 }), "CREDITED")
    assert.strictEqual(statusOf({ ...paid, creditedMinor: 1000 }), "PAID")
  })

  it("invites to pay exactly while a balance is left of an invoice that is not void", () => {
    fc.assert(
      fc.property(invoices, times, zones, (invoice, at, zone) => {
        const status = pageStatusOf(invoice, at, zone)
        assert.include(pageStatuses, status)
        assert.strictEqual(isPayable(status), invoice.status !== "VOID" && balanceOf(invoice) > 0)
        assert.strictEqual(status === "VOID", invoice.status === "VOID")
      })
    )
  })

  it("becomes OVERDUE once, when the due day ends", () => {
    fc.assert(
      fc.property(times, times, zones, (dueAt, at, zone) => {
        const isLate = localDateOf(dueAt, zone) < localDateOf(at, zone)
        assert.strictEqual(statusOf({ dueAt }, at, zone), isLate ? "OVERDUE" : "OPEN")
      })
    )
  })
})
