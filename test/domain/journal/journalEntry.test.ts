import { assert, describe, it } from "vitest"
import {
  allocationEntry,
  creditNoteEntry,
  invoiceEntry,
  type JournalEntry,
  paymentEntry,
  paymentReversalEntries,
  refundEntry,
  voidEntry,
  writeOffEntry,
  writeOffReversalEntry
} from "../../../src/domain/journal/JournalEntry.ts"

/** What a client owes after entries: what is open of invoices, less what is unused of payments. */
const owed = (...entries: ReadonlyArray<JournalEntry>) =>
  entries.reduce((sum, { creditMinor = 0, invoiceMinor = 0 }) => sum + invoiceMinor - creditMinor, 0)
const openOf = (...entries: ReadonlyArray<JournalEntry>) =>
  entries.reduce((sum, { invoiceMinor = 0 }) => sum + invoiceMinor, 0)

const invoice = invoiceEntry("inv_1", 1000)
const payment = paymentEntry("pay_1", 700)
const allocation = allocationEntry({ payment: "pay_1" }, { invoice: "inv_1", amountMinor: 600 })

describe("The entries of the journal", () => {
  it("charge an invoice, and take it back when it is void", () => {
    assert.strictEqual(owed(invoice), 1000)
    assert.strictEqual(owed(invoice, voidEntry("inv_1", 1000)), 0)
  })

  it("change what a client owes by a payment, and not by its allocation", () => {
    assert.strictEqual(owed(invoice, payment), 300)
    assert.strictEqual(owed(invoice, payment, allocation), 300)
    assert.strictEqual(openOf(invoice, payment, allocation), 400)
  })

  it("change what a client owes by a credit note, and not by its allocation", () => {
    const note = creditNoteEntry("crn_1", 400, "One pump too many")
    const settled = allocationEntry({ creditNote: "crn_1" }, { invoice: "inv_1", amountMinor: 400 })
    assert.strictEqual(owed(invoice, note), 600)
    assert.strictEqual(owed(invoice, note, settled), 600)
    assert.strictEqual(openOf(invoice, note, settled), 600)
    assert.deepStrictEqual([settled.creditNote, settled.payment], ["crn_1", undefined])
  })

  it("take back a payment with its allocations", () => {
    const reversal = paymentReversalEntries(
      "pay_1",
      { amountMinor: 700, allocations: [{ invoice: "inv_1", amountMinor: 600 }] },
      "Returned"
    )
    assert.deepStrictEqual(reversal, [
      { kind: "REVERSAL", payment: "pay_1", creditMinor: 600, invoice: "inv_1", invoiceMinor: 600, reason: "Returned" },
      { kind: "REVERSAL", payment: "pay_1", creditMinor: -700, reason: "Returned" }
    ])
    assert.strictEqual(owed(invoice, payment, allocation, ...reversal), 1000)
    assert.strictEqual(openOf(invoice, payment, allocation, ...reversal), 1000)
  })

  it("charge a refund again, and release what is written off until that is reversed", () => {
    assert.strictEqual(owed(payment, refundEntry({ payment: "pay_1" }, 700, "Overpaid")), 0)
    const writeOff = writeOffEntry("inv_1", 1000, "Insolvency")
    assert.strictEqual(owed(invoice, writeOff), 0)
    assert.strictEqual(owed(invoice, writeOff, writeOffReversalEntry("inv_1", 1000)), 1000)
  })
})
