import { assert, describe, it } from "vitest"
import { assertValidationError } from "../../support/assertions/failures.ts"
import { useCreditNotes } from "../../support/fixtures/creditNotes.ts"
import type { CreditNoteBody } from "../../support/fixtures/payments.ts"

describe("Finalized credit notes", () => {
  const { creditOf, eventsOf, invoiceWith, newPayer, settledOf } = useCreditNotes()

  it("close an invoice without paying it, and keep what is more for other invoices and refunds", async () => {
    const payer = await newPayer()
    const [invoice, other] = [await payer.newInvoice(1000), await payer.newInvoice(300)]
    await payer.pay(400, [[invoice.id, 400]])
    const note = await creditOf(payer, invoice.id)
    assert.deepInclude(note, {
      full: true,
      lines: [],
      totalMinor: 1000,
      allocations: [{ invoice: invoice.id, amountMinor: 600 }],
      unallocatedMinor: 400
    })
    assert.deepStrictEqual(await settledOf(payer, invoice.id), {
      status: "PAID",
      paidMinor: 400,
      creditedMinor: 600,
      balanceMinor: 0
    })
    assert.strictEqual((await eventsOf(payer, invoice.id)).at(-1), "invoice.updated")
    const balance = (unusedMinor: number, openMinor: number) => [
      { currencyCode: "EUR", openMinor, overdueMinor: 0, unusedMinor }
    ]
    const balances = async () => (await payer.get<{ balances: unknown }>(`/clients/${payer.client}/balance`)).balances
    assert.deepStrictEqual(await balances(), balance(400, 300))

    const act = (action: string, body: object) => payer.act<CreditNoteBody>(`/credit-notes/${note.id}/${action}`, body)
    const allocated = await act("allocate", { invoiceId: other.id, amountMinor: 300 })
    assert.deepInclude(allocated, { unallocatedMinor: 100 })
    assert.deepInclude(await settledOf(payer, other.id), { status: "PAID", creditedMinor: 300 })
    assert.deepInclude(await act("refund", { amountMinor: 60, reference: "Bank" }), {
      unallocatedMinor: 40,
      refundedMinor: 60
    })
    assert.deepStrictEqual(await balances(), balance(40, 0))
    assertValidationError(await payer.call("POST", `/credit-notes/${note.id}/refund`, { amountMinor: 41 }), [
      "amountMinor",
      "max",
      "must be at most 40, what is left of the credit note, but is 41"
    ])
    assert.deepStrictEqual((await eventsOf(payer, note.id)).slice(-2), [
      "credit_note.allocated",
      "credit_note.refunded"
    ])
  })

  it("settle their own invoice before the reversal of a payment or a write-off opens it again", async () => {
    const payer = await newPayer()
    const invoice = await payer.newInvoice(1000)
    const payment = await payer.pay(800, [[invoice.id, 800]])
    await payer.act(`/invoices/${invoice.id}/write-off`, { reason: "Small rest" })
    const [line] = (await payer.get<ReadonlyArray<{ id: string }>>(`/billables?invoiceId=${invoice.id}`)).map(
      ({ id }) => id
    )
    const note = await creditOf(payer, invoice.id, { lines: [{ billableId: line, amountMinor: 500 }] })
    assert.deepInclude(note, { allocations: [], unallocatedMinor: 500 })

    await payer.act(`/invoices/${invoice.id}/write-off/reverse`)
    assert.deepStrictEqual(await settledOf(payer, invoice.id), {
      ...{ status: "PAID", paidMinor: 800, creditedMinor: 200, balanceMinor: 0 }
    })
    await payer.act(`/payments/${payment.id}/reverse`, { reason: "Returned" })
    assert.deepStrictEqual(await settledOf(payer, invoice.id), {
      ...{ status: "FINALIZED", paidMinor: 0, creditedMinor: 500, balanceMinor: 500 }
    })
    assert.deepInclude(await payer.get<CreditNoteBody>(`/credit-notes/${note.id}`), {
      allocations: [{ invoice: invoice.id, amountMinor: 500 }],
      unallocatedMinor: 0
    })
    assert.deepStrictEqual((await eventsOf(payer, invoice.id)).slice(-3), [
      "invoice.written_off",
      "invoice.updated",
      "invoice.reopened"
    ])
  })

  it("release the reference of a line that is credited in full, and what the contract may bill", async () => {
    const payer = await newPayer()
    await payer.call("PATCH", `/contracts/${payer.contractId}`, { capMinor: 1000 })
    const line = (referenceId: string) => ({ amountMinor: 500, referenceType: "order", referenceId })
    const invoice = await invoiceWith(payer, line("A"), line("B"))
    const next = await payer.draft({ contractId: payer.contractId })
    const errorsOf = async (referenceId: string) =>
      (await payer.tryAdd(next.id, line(referenceId))).body.details?.map(
        ({ constraint, field }: { constraint: string; field: string }) => `${field} ${constraint}`
      )
    assert.deepStrictEqual(await errorsOf("A"), ["billables[0].referenceId unique"])
    await creditOf(payer, invoice.id, { lines: [{ billableId: invoice.lineAt(0), amountMinor: 499 }] })
    assert.deepStrictEqual(await errorsOf("A"), ["billables[0].referenceId unique"])
    await creditOf(payer, invoice.id, { lines: [{ billableId: invoice.lineAt(0), amountMinor: 1 }] })
    assert.isUndefined(await errorsOf("A"))
    assert.deepStrictEqual(await errorsOf("B"), ["billables[0].referenceId unique"])
    assert.deepStrictEqual(await errorsOf("C"), ["billables max"])
  })
})
