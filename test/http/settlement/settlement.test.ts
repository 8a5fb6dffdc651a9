import { assert, describe, it } from "vitest"
import { assertValidationError } from "../../support/assertions/failures.ts"
import type { InvoiceBody } from "../../support/fixtures/invoices.ts"
import { withoutTriggers } from "../../support/fixtures/journalHistory.ts"
import { type PaymentBody, startPayer } from "../../support/fixtures/payments.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

describe("The settlement of an invoice", () => {
  const fixture = useFixture(startServiceWithPool)
  const newPayer = async () => {
    const { service } = fixture()
    return startPayer(service, await service.newTenant())
  }

  const eventsOf = async (resource: string) => {
    const { rows } = await fixture().pool.query<{ type: string; data: Record<string, unknown> }>(
      "select type, data from events where resource_id = $1 order by sequence",
      [resource]
    )
    return rows
  }

  it("by POST /invoices/{id}/pay records a payment of the balance", async () => {
    const payer = await newPayer()
    const invoice = await payer.newInvoice(1000)
    await payer.pay(400, [[invoice.id, 400]])
    const paid = await payer.transition(invoice.id, "pay")
    assert.deepInclude(paid, { status: "PAID", paidMinor: 1000, balanceMinor: 0 })
    assert.deepStrictEqual(await payer.read(invoice.id), paid)
    const [, second] = await payer.get<ReadonlyArray<PaymentBody>>(`/payments?invoiceId=${invoice.id}`)
    assert.deepInclude(second, { amountMinor: 600, unallocatedMinor: 0, createdBy: "owner" })
    assert.deepStrictEqual(
      (await eventsOf(second?.id ?? "")).map(({ type }) => type),
      ["payment.recorded"]
    )
    assertValidationError(await payer.tryTransition(invoice.id, "pay"), [
      "status",
      "state",
      "is PAID; only a FINALIZED invoice can be paid"
    ])
  })

  it("is immediate for a total of 0, without a payment", async () => {
    const payer = await newPayer()
    const invoice = await payer.newInvoice(0)
    assert.deepInclude(invoice, { status: "PAID", totalMinor: 0, balanceMinor: 0, paidAt: invoice["issuedAt"] })
    assert.deepStrictEqual(await payer.read(invoice.id), invoice)
    assert.deepStrictEqual(await payer.get("/payments"), [])
    const types = (await eventsOf(invoice.id)).map(({ type }) => type)
    assert.deepStrictEqual(types.slice(-2), ["invoice.finalized", "invoice.paid"])
  })

  it("is reported by events: updated for a part, paid for the rest, reopened after a reversal", async () => {
    const payer = await newPayer()
    const invoice = await payer.newInvoice(1000)
    const { id } = await payer.pay(400, [[invoice.id, 400]])
    await payer.pay(600, [[invoice.id, 600]])
    await payer.act(`/payments/${id}/reverse`, { reason: "Returned" })
    const events = (await eventsOf(invoice.id)).slice(-3)
    assert.deepStrictEqual(
      events.map(({ data, type }) => [type, data["status"], data["balanceMinor"]]),
      [
        ["invoice.updated", "FINALIZED", 600],
        ["invoice.paid", "PAID", 0],
        ["invoice.reopened", "FINALIZED", 400]
      ]
    )
    assert.deepStrictEqual(events.at(-1)?.data, await payer.read(invoice.id))
  })

  it("can be a write-off of a part or of the balance, which is taken back as a whole", async () => {
    const payer = await newPayer()
    const { id } = await payer.newInvoice(1000)
    await payer.pay(300, [[id, 300]])
    const writeOff = (body: object) => payer.act<InvoiceBody>(`/invoices/${id}/write-off`, body)
    assert.deepInclude(await writeOff({ amountMinor: 100, reason: "Goodwill" }), {
      status: "FINALIZED",
      writtenOffMinor: 100,
      balanceMinor: 600
    })
    assertValidationError(await payer.call("POST", `/invoices/${id}/write-off`, { amountMinor: 601, reason: "All" }), [
      "amountMinor",
      "max",
      "must be at most 600, the balance of the invoice, but is 601"
    ])
    const closed = await writeOff({ reason: "Insolvency" })
    assert.deepInclude(closed, { status: "PAID", writtenOffMinor: 700, balanceMinor: 0 })
    assert.isString(closed["paidAt"])
    const reopened = await payer.act<InvoiceBody>(`/invoices/${id}/write-off/reverse`)
    assert.deepInclude(reopened, { status: "FINALIZED", writtenOffMinor: 0, paidMinor: 300, balanceMinor: 700 })
    assert.deepStrictEqual(
      (await eventsOf(id)).slice(-3).map(({ type }) => type),
      ["invoice.written_off", "invoice.written_off", "invoice.reopened"]
    )
    assertValidationError(await payer.call("POST", `/invoices/${id}/write-off/reverse`), [
      "writtenOffMinor",
      "state",
      "is 0; nothing of this invoice is written off"
    ])
  })

  it("keeps an invoice from being voided, in part too, until it is taken back", async () => {
    const payer = await newPayer()
    const { id } = await payer.newInvoice(1000)
    const payment = await payer.pay(1, [[id, 1]])
    assertValidationError(await payer.tryTransition(id, "void"), [
      "balanceMinor",
      "state",
      "is 999 of 1000; an invoice that is settled in part cannot be voided"
    ])
    await payer.act(`/payments/${payment.id}/reverse`, { reason: "Mistake" })
    assert.deepInclude(await payer.transition(id, "void"), { status: "VOID", balanceMinor: 0 })
  })

  it("shows in the balance of the client, by currency", async () => {
    const { pool, service } = fixture()
    const payer = await newPayer()
    const balanceOf = () => payer.get(`/clients/${payer.client}/balance`)
    assert.deepStrictEqual(await balanceOf(), { client: payer.client, balances: [] })
    const overdue = await payer.newInvoice(1000)
    const soonDue = await payer.newInvoice(500)
    await withoutTriggers(pool, async (connection) => {
      const setDue = "update invoices set due_at = now() + $2::interval where id = $1"
      await connection.query(setDue, [overdue.id, "-10 minutes"])
      await connection.query(setDue, [soonDue.id, "10 minutes"])
    })
    await payer.newDraft(7)
    await payer.pay(250, [[overdue.id, 200]])
    const swiss = { clientId: payer.client, currencyCode: "CHF", amountMinor: 30 }
    assert.strictEqual((await payer.call("POST", "/payments", swiss)).status, 201)
    await (await startPayer(service, payer.tenant)).newInvoice(9)
    assert.deepStrictEqual(await balanceOf(), {
      client: payer.client,
      balances: [
        { currencyCode: "CHF", openMinor: 0, overdueMinor: 0, unusedMinor: 30 },
        { currencyCode: "EUR", openMinor: 1300, overdueMinor: 800, unusedMinor: 50 }
      ]
    })
  })

  it("leaves the balance of the client when nothing is open or unused any more", async () => {
    const payer = await newPayer()
    const { id } = await payer.newInvoice(1000)
    await payer.pay(1000, [[id, 1000]])
    const note = await payer.finalizeNote((await payer.draftNote(id)).id)
    assert.strictEqual(note.unallocatedMinor, 1000)
    await payer.act(`/credit-notes/${note.id}/refund`, { amountMinor: 1000 })
    assert.deepStrictEqual(await payer.get(`/clients/${payer.client}/balance`), { client: payer.client, balances: [] })
  })
})
