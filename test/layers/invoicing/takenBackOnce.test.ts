import { assert, beforeAll, describe, it } from "vitest"
import { findWrongContracts } from "../../support/fixtures/billedContracts.ts"
import { readBilledMinor } from "../../support/fixtures/invoices.ts"
import { startPayer } from "../../support/fixtures/payments.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithTenant } from "../../support/servers/serviceWithPool.ts"

/** What the database holds by itself, whatever a statement tries. */
describe("The database", () => {
  const fixture = useFixture(() => startServiceWithTenant())
  let payer: Awaited<ReturnType<typeof startPayer>>
  beforeAll(async () => {
    payer = await startPayer(fixture().service, fixture().tenant)
  })

  const run = (statement: string, ...values: ReadonlyArray<string | number>) =>
    fixture().pool.query(statement, [...values])
  const errorOf = (statement: string, ...values: ReadonlyArray<string | number>) =>
    run(statement, ...values).then(
      () => undefined,
      ({ constraint, message }: { constraint?: string; message: string }) => constraint ?? message
    )
  const billed = () => readBilledMinor(fixture().pool, payer.contractId)

  /** Finalizes a note on the database alone, with this net. */
  const finalizeNote = (id: string, netMinor: number) =>
    errorOf(
      `update credit_notes set status = 'FINALIZED', credit_note_number = id, issued_at = now(), period = id, place = 1,
         credited_before = '[]', subtotal_minor = $2::bigint, tax_minor = abs($2::bigint), discount_minor = 0,
         total_minor = $2::bigint + abs($2::bigint) where id = $1`,
      id,
      netMinor
    )

  it("rejects the void of an invoice with a finalized credit note, even one of 0", async () => {
    for (const netMinor of [0, 400]) {
      const invoice = await payer.newInvoice(1000)
      const note = await payer.draftNote(invoice.id)
      assert.isUndefined(await finalizeNote(note.id, netMinor))
      assert.strictEqual(
        await errorOf("update invoices set status = 'VOID' where id = $1", invoice.id),
        "invoices_credited_net"
      )
    }
  })

  it("rejects a credit note on a void invoice", async () => {
    const invoice = await payer.newInvoice(1000)
    const note = await payer.draftNote(invoice.id)
    await payer.transition(invoice.id, "void")
    assert.strictEqual(await finalizeNote(note.id, 0), "invoices_credited_net")
  })

  it("decides between a void and a credit note that run at the same time", async () => {
    const invoice = await payer.newInvoice(1000)
    const note = await payer.draftNote(invoice.id)
    const voiding = await fixture().pool.connect()
    await voiding.query("begin")
    await voiding.query("select 1 from invoices where id = $1 for no key update", [invoice.id])
    const finalizing = finalizeNote(note.id, 1)
    await voiding.query(
      `with booked as (
         insert into journal_entries (tenant_id, kind, booked_at, client_id, currency_code, invoice_id, invoice_minor, credit_minor)
         select tenant_id, 'VOID', now(), client_id, currency_code, id, -total_minor, 0 from invoices where id = $1
       ) update invoices set status = 'VOID' where id = $1`,
      [invoice.id]
    )
    await voiding.query("commit")
    voiding.release()
    assert.strictEqual(await finalizing, "invoices_credited_net")
  })

  it("keeps the credited net of an invoice between 0 and its net, whatever its sign", async () => {
    const taxed = { taxRateIds: [(await payer.call("POST", "/tax-rates", { name: "VAT", percent: 100 })).body.data.id] }
    const negative = await payer.draft({ contractId: payer.contractId })
    await payer.add(negative.id, { amountMinor: 1000, ...taxed }, { amountMinor: -1500 })
    for (const [invoice, netMinor] of [
      [(await payer.newInvoice(1000)).id, 1000],
      [(await payer.transition(negative.id, "finalize")).id, -500]
    ] as const) {
      const sign = Math.sign(netMinor)
      const [first, second] = [await payer.draftNote(invoice), await payer.draftNote(invoice)]
      assert.strictEqual(await finalizeNote(first.id, -sign), "invoices_credited_net")
      assert.strictEqual(await finalizeNote(first.id, netMinor + sign), "invoices_credited_net")
      assert.isUndefined(await finalizeNote(first.id, netMinor - sign))
      assert.strictEqual(await finalizeNote(second.id, 2 * sign), "invoices_credited_net")
      assert.isUndefined(await finalizeNote(second.id, sign))
    }
    assert.isEmpty(await findWrongContracts(fixture().pool))
  })

  it("moves the billed amount of a contract with its invoices and credit notes alone", async () => {
    const before = await billed()
    await run("update contracts set billed_minor = 1, name = 'Renamed' where id = $1", payer.contractId)
    assert.strictEqual(await billed(), before)

    await run(
      `insert into invoices (tenant_id, id, contract_id, status, currency_code, subtotal_minor, discount_minor, total_minor,
         billable_count, created_at, updated_at, sequence)
       select $1, 'inv_' || n, $2, case n when 3 then 'VOID' else 'DRAFT' end, 'EUR', 100 * n, n, 99 * n, 1, now(), now(), 1
       from generate_series(1, 3) n`,
      payer.tenant,
      payer.contractId
    )
    assert.strictEqual(await billed(), before + 99 + 198)
    await run("update invoices set subtotal_minor = 150, total_minor = 149 where id = 'inv_1'")
    assert.strictEqual(await billed(), before + 149 + 198)
    await run("update invoices set status = 'VOID' where id = 'inv_2'")
    assert.strictEqual(await billed(), before + 149)
    await run("delete from invoices where id in ('inv_1', 'inv_2', 'inv_3')")
    assert.strictEqual(await billed(), before)

    const invoice = await payer.newInvoice(1000)
    await finalizeNote((await payer.draftNote(invoice.id)).id, 300)
    assert.strictEqual(await billed(), before + 700)
    assert.isEmpty(await findWrongContracts(fixture().pool))
  })

  it("counts deleted drafts, and not those that the erasure of a tenant deletes", async () => {
    const tenant = await fixture().service.newTenant()
    const { add, contract, draft } = await startPayer(fixture().service, tenant)
    const { id: contractId } = await contract({ capMinor: 100 })
    const drafts: Array<string> = []
    for (const amountMinor of [100, -60, 60]) {
      const { id } = await draft({ contractId })
      await add(id, { amountMinor })
      drafts.push(id)
    }
    const deleteNegative = () =>
      errorOf(
        `with lines as (delete from billables where tenant_id = $1 and invoice_id = $2)
         delete from invoices where tenant_id = $1 and id = $2`,
        tenant,
        drafts[1] ?? ""
      )
    assert.strictEqual(await deleteNegative(), "contracts_cap_minor_min")
    await run("update tenants set deleted_at = now() where id = $1", tenant)
    assert.isUndefined(await deleteNegative())
  })

  it("starts each contract at 0 and keeps invoices with theirs", async () => {
    await run(
      `insert into contracts (tenant_id, id, client_id, name, status, currency_code, payment_term_days, billed_minor,
         created_at, updated_at, sequence)
       select tenant_id, 'ctr_other', client_id, 'Other', 'ACTIVE', 'EUR', 30, 7, now(), now(), 1
       from contracts where id = $1`,
      payer.contractId
    )
    assert.strictEqual(await readBilledMinor(fixture().pool, "ctr_other"), 0)
    const draft = await payer.newDraft(100)
    assert.include(
      await errorOf("update invoices set contract_id = 'ctr_other' where id = $1", draft),
      "another contract"
    )
  })
})
