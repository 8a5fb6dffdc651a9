import type pg from "pg"
import { assert, describe, it } from "vitest"
import { useFixture } from "../../../support/fixtures/useFixture.ts"
import { startOldDatabase } from "../../../support/servers/oldDatabase.ts"

/** The last migration of the release without payments. */
const lastBefore = 29

const tenant = "tnt_00000000000000000000000001"

/** Inserts an invoice as the release without payments does. */
const insertInvoices = (pool: pg.Pool, from: number, to: number, statusOf: string) =>
  pool.query(
    `insert into invoices (tenant_id, id, contract_id, status, invoice_number, currency_code, subtotal_minor,
       total_minor, billable_count, issued_at, due_at, paid_at, created_at, updated_at, sequence, period, place, parties)
     select $1, 'inv_' || lpad(n::text, 6, '0'), 'ctr_1', status, case when issued then 'N-' || n end, 'EUR',
       n % 5 * 100, n % 5 * 100, 1, case when issued then timestamptz '2026-01-01Z' + n * interval '1 minute' end, now(),
       case when status = 'PAID' then timestamptz '2026-02-01Z' + n * interval '1 minute' end, '2026-01-01Z',
       '2026-03-01Z', 3, case when issued then 'all' end, case when issued then n end,
       case when issued then '{"tenant":{"name":"Harbour Works"}}'::json end
     from (select n, ${statusOf} as status, ${statusOf} <> 'DRAFT' as issued from generate_series($2::int, $3::int) n) numbered`,
    [tenant, from, to]
  )

const insertOldRows = async (pool: pg.Pool) => {
  await pool.query(
    `insert into tenants (id, name, created_at, updated_at, sequence) values ($1, 'Harbour Works', now(), now(), 1)`,
    [tenant]
  )
  await pool.query(
    `insert into clients (tenant_id, id, name, created_at, updated_at, sequence)
     values ($1, 'clnt_1', 'Northwind', now(), now(), 1)`,
    [tenant]
  )
  await pool.query(
    `insert into contracts (tenant_id, id, client_id, name, status, currency_code, payment_term_days, created_at,
       updated_at, sequence)
     values ($1, 'ctr_1', 'clnt_1', 'Contract', 'ACTIVE', 'EUR', 30, now(), now(), 1)`,
    [tenant]
  )
  await insertInvoices(pool, 1, 3000, "(array['DRAFT', 'FINALIZED', 'PAID', 'VOID'])[1 + n % 4]")
}

const oldColumns = `id, contract_id, status, invoice_number, currency_code, subtotal_minor, total_minor, billable_count,
  issued_at, due_at, paid_at, created_at, updated_at, sequence, period, place, parties::text`

describe("The upgrade from a release without payments", () => {
  const at = useFixture(() => startOldDatabase(lastBefore))

  it("books every issued invoice while the release before issues, pays and voids", { timeout: 60_000 }, async () => {
    const { pool, upgrade } = at()
    await insertOldRows(pool)
    const readRows = async () =>
      (await pool.query(`select ${oldColumns} from invoices where id < 'inv_100000' order by id`)).rows
    const before = await readRows()
    assert.lengthOf(before, 3000)

    let isUpgraded = false
    let next = 100_000
    const writeOnAndOn = async () => {
      do {
        const n = next++
        await insertInvoices(pool, n, n, "'FINALIZED'")
        const [status, paidAt] = n % 2 === 0 ? ["PAID", "now()"] : ["VOID", "null"]
        await pool.query(
          `update invoices set status = '${status}', paid_at = ${paidAt}, updated_at = now(), sequence = sequence + 1
           where tenant_id = $1 and id = $2`,
          [tenant, `inv_${n}`]
        )
      } while (!isUpgraded)
    }
    const writing = writeOnAndOn()
    await upgrade()
    isUpgraded = true
    await writing
    assert.deepStrictEqual(await readRows(), before)

    const { rows } = await pool.query(`
      select status, count(*)::int as count,
        count(*) filter (where paid_minor = case status when 'PAID' then total_minor else 0 end)::int as settled,
        count(*) filter (where entries = case
          when status = 'DRAFT' then '' when status = 'FINALIZED' then 'INVOICE' when status = 'VOID' then 'INVOICE VOID'
          when total_minor = 0 then 'INVOICE' else 'INVOICE ALLOCATION' end)::int as booked
      from invoices left join lateral (
        select coalesce(string_agg(kind, ' ' order by invoice_place), '') as entries, min(booked_at) as first
        from journal_entries where journal_entries.tenant_id = invoices.tenant_id and invoice_id = invoices.id
      ) journal on true
      group by status order by status`)
    for (const { booked, count, settled, status } of rows) {
      assert.strictEqual(booked, count, `${status} invoices are booked`)
      assert.strictEqual(settled, count, `${status} invoices have their paid sum`)
    }
    const written = next - 100_000
    assert.strictEqual(
      rows.reduce((sum, { count }) => sum + count, 0),
      3000 + written
    )
  })

  it("dates the entries as the invoice, and records a payment for each paid one, without events", async () => {
    const { pool } = at()
    const { rows } = await pool.query(`
      select count(*)::int as count,
        count(*) filter (where payments.received_at = invoices.paid_at and payments.created_at = invoices.paid_at
          and payments.amount_minor = invoices.total_minor and unallocated_minor = 0 and payments.status = 'RECORDED'
          and payments.client_id = 'clnt_1' and allocations -> 0 ->> 'invoice' = invoices.id)::int as right,
        count(*) filter (where booked.at = invoices.paid_at)::int as dated
      from invoices
      join payments on payments.tenant_id = invoices.tenant_id and payments.id = 'pay_' || substr(invoices.id, 5)
      join lateral (select max(booked_at) as at from journal_entries
        where tenant_id = payments.tenant_id and payment_id = payments.id) booked on true
      where invoices.id < 'inv_100000'`)
    assert.deepStrictEqual(rows, [{ count: 600, right: 600, dated: 600 }])
    const issued = await pool.query(`
      select count(*)::int as wrong from invoices
      join journal_entries entry on entry.tenant_id = invoices.tenant_id and entry.invoice_id = invoices.id
      where kind = 'INVOICE' and booked_at <> issued_at or kind = 'VOID' and booked_at <> updated_at`)
    assert.deepStrictEqual(issued.rows, [{ wrong: 0 }])
    assert.deepStrictEqual((await pool.query("select count(*)::int as events from events")).rows, [{ events: 0 }])
  })
})
