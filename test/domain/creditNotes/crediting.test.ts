import { Either } from "effect"
import { assert, describe, it } from "vitest"
import {
  type CreditableInvoice,
  type CreditableLine,
  type CreditContent,
  creditInvoice
} from "../../../src/domain/creditNotes/Crediting.ts"
import { type CreditLine, CreditNote } from "../../../src/domain/creditNotes/CreditNote.ts"
import { useOwnCredit } from "../../../src/domain/creditNotes/OwnCredit.ts"
import { BillableId } from "../../../src/domain/invoicing/Billable.ts"
import { InvoiceId } from "../../../src/domain/invoicing/Invoice.ts"
import { maxAllocations } from "../../../src/domain/payments/Allocation.ts"
import { messagesOf } from "../../support/assertions/decisions.ts"

const billable = (n: number) => BillableId.make(`bil_${n}`)

/** A line without taxes of which nothing is credited. */
const lineOf = (n: number, quantity: number, lineTotalMinor: number, credited: Partial<CreditableLine> = {}) => ({
  id: billable(n),
  quantity,
  lineTotalMinor,
  taxRates: [],
  creditedQuantity: "0",
  creditedMinor: 0,
  ...credited
})

/** An issued invoice without taxes and discount, with these lines. */
const invoiceOf = (
  lines: ReadonlyArray<CreditableLine>,
  { completed = 0, status = "FINALIZED" }: { completed?: number; status?: "DRAFT" | "FINALIZED" | "PAID" | "VOID" } = {}
): CreditableInvoice => {
  const totalMinor = lines.reduce((sum, { lineTotalMinor }) => sum + lineTotalMinor, 0)
  const creditedMinor = lines.reduce((sum, line) => sum + line.creditedMinor, 0)
  return {
    invoice: {
      status,
      taxes: [],
      discountMinor: 0,
      subtotalMinor: totalMinor,
      totalMinor,
      billableCount: lines.length
    },
    taxSets: [],
    credited:
      creditedMinor === 0 && completed === 0 ? [] : [{ taxRates: [], netMinor: creditedMinor, lineCount: completed }]
  }
}

const byQuantity = (n: number, quantity: number): CreditLine => ({ billable: billable(n), quantity, amountMinor: 0 })
const byAmount = (n: number, amountMinor: number): CreditLine => ({ billable: billable(n), amountMinor })

const decide = (
  lines: ReadonlyArray<CreditableLine>,
  content: CreditContent,
  options?: Parameters<typeof invoiceOf>[1]
) => creditInvoice(invoiceOf(lines, options), content, new Map(lines.map((line) => [line.id as string, line])))

const errorsOf = (lines: ReadonlyArray<CreditableLine>, ...wanted: ReadonlyArray<CreditLine>) =>
  messagesOf(decide(lines, { full: false, lines: wanted }))

const creditOf = (lines: ReadonlyArray<CreditableLine>, content: CreditContent) =>
  Either.getOrThrow(decide(lines, content))

describe("creditInvoice", () => {
  it("credits issued invoices alone", () => {
    for (const status of ["DRAFT", "VOID"] as const)
      assert.deepStrictEqual(messagesOf(decide([lineOf(1, 1, 100)], { full: true }, { status })), [
        `invoiceId state: is ${status}; only a FINALIZED or PAID invoice can be credited`
      ])
    for (const status of ["FINALIZED", "PAID"] as const)
      assert.isUndefined(messagesOf(decide([lineOf(1, 1, 100)], { full: true }, { status })))
  })

  it("credits what is left of all lines, and nothing after that", () => {
    const lines = [lineOf(1, 2, 100, { creditedMinor: 30 }), lineOf(2, 1, 0)]
    const { amounts, after, completed } = creditOf(lines, { full: true })
    assert.strictEqual(amounts.totalMinor, 70)
    assert.deepStrictEqual(after, [{ taxRates: [], netMinor: 100, lineCount: 2 }])
    assert.isUndefined(completed)
    const credited = [lineOf(1, 2, 100, { creditedMinor: 100 }), lineOf(2, 1, 0)]
    assert.deepStrictEqual(messagesOf(decide(credited, { full: true }, { completed: 2 })), [
      "invoiceId state: is credited in full; nothing of it is left to credit"
    ])
  })

  it("computes the net of a quantity, and tells which lines are complete", () => {
    const lines = [lineOf(1, 3, 100), lineOf(2, 2, 50, { creditedMinor: 20 }), lineOf(3, 2, 0)]
    const wanted = [byQuantity(1, 1), byAmount(2, 30), byQuantity(3, 2)]
    const credit = creditOf(lines, { full: false, lines: wanted })
    assert.deepStrictEqual(
      credit.lines.map(({ amountMinor }) => amountMinor),
      [33, 30, 0]
    )
    assert.deepStrictEqual(credit.completed, [billable(2), billable(3)])
    assert.deepStrictEqual(credit.before, [{ taxRates: [], netMinor: 20, lineCount: 0 }])
    assert.deepStrictEqual(credit.after, [{ taxRates: [], netMinor: 83, lineCount: 2 }])
  })

  it("rejects more than what is left of a line, in either direction", () => {
    const lines = [
      lineOf(1, 4, 400, { creditedQuantity: "1.5", creditedMinor: 150 }),
      lineOf(2, -2, -40),
      lineOf(3, 1, 900)
    ]
    assert.deepStrictEqual(errorsOf(lines, byQuantity(1, 2.6)), [
      "lines[0].quantity max: must be at most 2.5, what is left of the line, but is 2.6"
    ])
    assert.deepStrictEqual(errorsOf(lines, byAmount(1, 251)), [
      "lines[0].amountMinor max: must be at most 250, what is left of the line, but is 251"
    ])
    assert.deepStrictEqual(errorsOf(lines, byAmount(1, -1), byAmount(2, -41), byQuantity(2, 1), byQuantity(3, 0)), [
      "lines[0].amountMinor min: must be above 0, like what is left of the line, but is -1",
      "lines[1].amountMinor min: must be at least -40, what is left of the line, but is -41",
      "lines[2].quantity max: must be below 0, like what is left of the line, but is 1",
      "lines[3].quantity min: must be above 0, like what is left of the line, but is 0"
    ])
    assert.isUndefined(errorsOf(lines, byQuantity(1, 2.5), byQuantity(2, -1)))
  })

  it("rejects a quantity whose net exceeds what a credit by amount has left", () => {
    assert.deepStrictEqual(errorsOf([lineOf(1, 2, 100, { creditedMinor: 60 })], byQuantity(1, 1)), [
      "lines[0].quantity max: would credit 50, more than 40, what is left of the line"
    ])
    assert.deepStrictEqual(errorsOf([lineOf(1, 2, 100, { creditedMinor: 100 })], byAmount(1, 1)), [
      "lines[0].amountMinor max: must be left out: the line is credited in full already"
    ])
  })

  it("rejects unknown lines, sums beyond those of lines with the same taxes, and totals of 0", () => {
    const lines = [lineOf(1, 1, 100), lineOf(2, 1, -30)]
    assert.deepStrictEqual(errorsOf(lines, byAmount(9, 1)), [
      "lines[0].billableId exists: is not a line of the invoice"
    ])
    assert.deepStrictEqual(errorsOf(lines, byAmount(1, 71)), [
      "lines max: would credit 71 of lines with the same taxes that come to 70; credit the others of them as well"
    ])
    assert.deepStrictEqual(errorsOf(lines, byAmount(2, -1)), [
      "lines min: would credit -1 of lines with the same taxes that come to 70; credit the others of them as well",
      "lines min: must credit more than 0, but come to -1"
    ])
    assert.isUndefined(errorsOf(lines, byAmount(1, 100), byAmount(2, -30)))
  })

  it("credits at most the net of the invoice, also when lines with other taxes have the other sign", () => {
    const reduced = { ...lineOf(2, 1, -100), taxRates: ["txr_1"] }
    const lines = [lineOf(1, 1, 300), reduced]
    const invoice = {
      ...invoiceOf(lines).invoice,
      taxes: [{ taxRates: ["txr_1"], name: "Zero", percent: 0, baseMinor: -100, taxMinor: 0 }]
    }
    const taxSets = [{ taxRates: ["txr_1"], netMinor: -100, lineCount: 1 }]
    const errorsWith = (...wanted: ReadonlyArray<CreditLine>) =>
      messagesOf(
        creditInvoice(
          { invoice, taxSets, credited: [] },
          { full: false, lines: wanted },
          new Map(lines.map((line) => [line.id as string, line]))
        )
      )
    assert.deepStrictEqual(errorsWith(byAmount(1, 201)), [
      "lines max: would credit a net of 201 of an invoice whose net is 200; credit others of its lines as well"
    ])
    assert.isUndefined(errorsWith(byAmount(1, 200)))
    assert.isUndefined(errorsWith(byAmount(1, 300), byAmount(2, -100)))
  })

  it("credits an invoice with a total of 0", () => {
    assert.strictEqual(creditOf([lineOf(1, 1, 0)], { full: true }).amounts.totalMinor, 0)
  })
})

describe("useOwnCredit", () => {
  const invoice = (n: number) => InvoiceId.make(`inv_${n}`)
  const noteOf = (n: number, own: number, unallocatedMinor: number, allocations: CreditNote["allocations"] = []) =>
    CreditNote.make(
      {
        ...{ id: `crn_${n}` as CreditNote["id"], invoice: invoice(own), unallocatedMinor, allocations }
      } as CreditNote,
      { disableValidation: true }
    )

  it("uses notes of the same invoice in their order, until nothing is open", () => {
    const notes = [noteOf(1, 1, 30), noteOf(2, 2, 50), noteOf(3, 1, 40), noteOf(4, 1, 9)]
    const uses = useOwnCredit([{ invoice: invoice(1), amountMinor: 50 }], notes)
    assert.deepStrictEqual(
      uses.map(({ allocation, note }) => [note.id, allocation.amountMinor, note.unallocatedMinor]),
      [
        ["crn_1", 30, 0],
        ["crn_3", 20, 20]
      ]
    )
  })

  it("leaves a note alone that settles the maximum number of invoices", () => {
    const full = Array.from({ length: maxAllocations }, (_, n) => ({ invoice: invoice(n + 10), amountMinor: 1 }))
    assert.isEmpty(useOwnCredit([{ invoice: invoice(1), amountMinor: 5 }], [noteOf(1, 1, 5, full)]))
  })
})
