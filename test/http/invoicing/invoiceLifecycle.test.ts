import { assert, describe, it } from "vitest"
import { daysFromNow, timestampPattern } from "../../support/fixtures/dates.ts"
import { invoiceClient } from "../../support/fixtures/invoices.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startService } from "../../support/servers/service.ts"

describe("An invoice", () => {
  const fixture = useFixture(startService)
  const createClient = async () => invoiceClient(fixture(), await fixture().newTenant())

  it("changes from DRAFT to FINALIZED to PAID", async () => {
    const { add, call, contract, draft, transition, read } = await createClient()
    const { id: contractId } = await contract({ paymentTermDays: 14 })
    const created = await draft({ contractId })
    const { id } = created
    await add(id, { name: "Pumps", quantity: 1.5, amountMinor: 333 }, { name: "Discount", amountMinor: -100 })
    const drafted = await read(id)
    assert.deepStrictEqual(drafted, {
      ...created,
      subtotalMinor: 400,
      totalMinor: 400,
      balanceMinor: 400,
      billableCount: 2,
      updatedAt: drafted.updatedAt
    })

    const finalized = await transition(id, "finalize")
    const { dueAt, invoiceNumber, issuedAt, updatedAt } = finalized
    assert.deepStrictEqual(finalized, {
      ...drafted,
      status: "FINALIZED",
      invoiceNumber,
      issuedAt,
      dueAt,
      updatedAt
    })
    assert.match(String(issuedAt), timestampPattern)
    assert.strictEqual(invoiceNumber, `INV-${String(issuedAt).slice(0, 4)}-000001`)
    assert.strictEqual(dueAt, daysFromNow(14, issuedAt))
    assert.deepStrictEqual(await read(id), finalized)

    const paid = await transition(id, "pay")
    assert.match(String(paid["paidAt"]), timestampPattern)
    assert.deepStrictEqual(paid, {
      ...finalized,
      status: "PAID",
      paidMinor: 400,
      balanceMinor: 0,
      paidAt: paid["paidAt"],
      updatedAt: paid.updatedAt
    })
    assert.deepStrictEqual(await read(id), paid)
    assert.strictEqual((await call("GET", `/invoices/${id}/explain`)).body.data.totalMinor, 400)
  })

  describe("that is voided", () => {
    it("keeps its number, its total and its lines", async () => {
      const { invoiceIn, lines, transition, read } = await createClient()
      const { id } = await invoiceIn("FINALIZED")
      const before = await read(id)
      const linesBefore = await lines(id)
      const after = await transition(id, "void")
      assert.deepStrictEqual(after, { ...before, status: "VOID", balanceMinor: 0, updatedAt: after.updatedAt })
      assert.deepStrictEqual(await lines(id), linesBefore)
    })

    it("has no number if it was a DRAFT", async () => {
      const { invoiceIn, transition } = await createClient()
      const after = await transition((await invoiceIn("DRAFT")).id, "void")
      assert.deepInclude(after, { status: "VOID", totalMinor: 100, billableCount: 1 })
      for (const field of ["invoiceNumber", "issuedAt", "dueAt", "paidAt"]) assert.notProperty(after, field)
    })
  })
})
