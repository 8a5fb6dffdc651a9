import { assert, describe, it } from "vitest"
import { startPayer } from "../../support/fixtures/payments.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

describe("The journal", () => {
  const fixture = useFixture(() => startServiceWithPool({}))
  const newPayer = async () => {
    const { service } = fixture()
    return startPayer(service, await service.newTenant())
  }
  const query = async (statement: string, ...values: ReadonlyArray<unknown>) =>
    (await fixture().pool.query(statement, [...values])).rows
  const errorOf = async (statement: string, ...values: ReadonlyArray<unknown>) =>
    String(await query(statement, ...values).catch((cause) => cause))

  it("has an entry for everything that changes what a client owes, with the sums after it", async () => {
    const payer = await newPayer()
    const { id } = await payer.newInvoice(1000)
    const payment = await payer.pay(700, [[id, 600]])
    await payer.act(`/payments/${payment.id}/refund`, { amountMinor: 50 })
    await payer.act(`/invoices/${id}/write-off`, { amountMinor: 100, reason: "Goodwill" })
    await payer.act(`/invoices/${id}/write-off/reverse`)
    const entries = await query(
      `select kind, invoice_minor::int, credit_minor::int, balance_minor::int, paid_minor::int, written_off_minor::int,
         unused_minor::int, reason, created_by, client_id = $2 as is_client
       from journal_entries where tenant_id = $1 order by id`,
      payer.tenant,
      payer.client
    )
    const row = (kind: string, invoice: number, credit: number, ...sums: ReadonlyArray<number | string | null>) => {
      const [balance = null, paid = null, writtenOff = null, unused = null, reason = null] = sums
      return {
        ...{ kind, invoice_minor: invoice, credit_minor: credit, balance_minor: balance, paid_minor: paid },
        ...{ written_off_minor: writtenOff, unused_minor: unused, reason, created_by: "owner", is_client: true }
      }
    }
    assert.deepStrictEqual(entries, [
      row("INVOICE", 1000, 0, 1000, 0, 0),
      row("PAYMENT", 0, 700, null, null, null, 700),
      row("ALLOCATION", -600, -600, 400, 600, 0, 100),
      row("REFUND", 0, -50, null, null, null, 50),
      row("WRITE_OFF", -100, 0, 300, 600, 100, null, "Goodwill"),
      row("REVERSAL", 100, 0, 400, 600, 0)
    ])
  })

  it("cannot be changed, and loses entries only with their tenant", async () => {
    const payer = await newPayer()
    await payer.newInvoice(10)
    const where = "where tenant_id = $1"
    assert.include(await errorOf(`update journal_entries set reason = 'x' ${where}`, payer.tenant), "cannot be changed")
    assert.include(await errorOf(`delete from journal_entries ${where}`, payer.tenant), "cannot be deleted")
    await query("update tenants set deleted_at = now() where id = $1", payer.tenant)
    await query(`delete from journal_entries ${where}`, payer.tenant)
    assert.deepStrictEqual(await query(`select 1 from journal_entries ${where}`, payer.tenant), [])
  })

  it("holds the sums of invoices and payments: the database rejects one without the other", async () => {
    const payer = await newPayer()
    const { id } = await payer.newInvoice(1000)
    const payment = await payer.pay(700, [[id, 600]])
    const entry = (columns: string, values: string) =>
      errorOf(
        `insert into journal_entries (tenant_id, kind, booked_at, client_id, currency_code, ${columns})
         values ($1, ${values})`,
        payer.tenant
      )
    const now = `now(), '${payer.client}', 'EUR'`
    const onInvoice = "invoice_id, invoice_minor, credit_minor"
    const onPayment = "payment_id, credit_minor, invoice_minor"
    assert.include(await entry(onInvoice, `'WRITE_OFF', ${now}, '${id}', -1, 0`), "differs from its journal")
    assert.include(await entry(onPayment, `'REFUND', ${now}, '${payment.id}', -1, 0`), "differs from its journal")
    assert.include(await entry(onInvoice, `'WRITE_OFF', ${now}, '${id}', -401, 0`), "balance_minor")
    assert.include(await entry(onPayment, `'REFUND', ${now}, '${payment.id}', -101, 0`), "unused_minor")
    for (const change of [
      "written_off_minor = 1",
      "paid_minor = 599",
      "status = 'PAID', paid_at = now(), credited_minor = 400"
    ])
      assert.include(
        await errorOf(`update invoices set ${change} where tenant_id = $1 and id = $2`, payer.tenant, id),
        "differs from its journal",
        change
      )
    assert.include(
      await errorOf("update invoices set status = 'VOID' where tenant_id = $1 and id = $2", payer.tenant, id),
      "invoices_settled"
    )
  })
})
