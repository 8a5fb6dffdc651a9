import type pg from "pg"
import { assert, describe, it } from "vitest"
import { withoutTriggers } from "../../../support/fixtures/journalHistory.ts"
import { useFixture } from "../../../support/fixtures/useFixture.ts"
import { startOldDatabase } from "../../../support/servers/oldDatabase.ts"

/** The last migration of the release in which an invoice could be voided and credited. */
const lastBefore = 42

const tenant = "tnt_00000000000000000000000001"

const insertOwner = async (pool: pg.Pool) => {
  await pool.query(
    "insert into tenants (id, name, created_at, updated_at, sequence) values ($1, 'Harbour Works', now(), now(), 1)",
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
}

const moveBilled =
  "billed as (update contracts set billed_minor = billed_minor + $3 where tenant_id = $1 and id = 'ctr_1')"

/** Writes a finalized invoice with this net as the release before does. */
const insertInvoice = (pool: pg.Pool, id: string, net: number) =>
  pool.query(
    `with ${moveBilled}, booked as (
       insert into journal_entries (tenant_id, kind, booked_at, client_id, currency_code, invoice_id, invoice_minor, credit_minor)
       values ($1, 'INVOICE', now(), 'clnt_1', 'EUR', $2, $3, 0)
     )
     insert into invoices (tenant_id, id, contract_id, client_id, status, invoice_number, currency_code, subtotal_minor,
       total_minor, billable_count, issued_at, created_at, updated_at, sequence, period, place, parties)
     values ($1, $2, 'ctr_1', 'clnt_1', 'FINALIZED', $2, 'EUR', $3, $3, 1, now(), now(), now(), 1, $2, 1, '{}')`,
    [tenant, id, net]
  )

/** Finalizes a credit note as the release before does; all of it was refunded. */
const insertNote = async (pool: pg.Pool, id: string, invoice: string, net: number) => {
  await pool.query(
    `insert into credit_notes (tenant_id, id, invoice_id, client_id, currency_code, status, reason, "full", lines,
       subtotal_minor, discount_minor, taxes, tax_minor, total_minor, allocations, unallocated_minor, refunded_minor,
       created_at, updated_at, sequence)
     values ($1, $2, $3, 'clnt_1', 'EUR', 'DRAFT', 'Mistake', true, '[]', $4, 0, '[]', 0, $4, '[]', 0, 0, now(), now(), 1)`,
    [tenant, id, invoice, net]
  )
  await pool.query(
    `with ${moveBilled}, credits as (
       insert into invoice_credits (tenant_id, invoice_id, tax_sets)
       select $1, invoice_id, '[]' from credit_notes where tenant_id = $1 and id = $2 on conflict do nothing
     )
     update credit_notes set status = 'FINALIZED', credit_note_number = id, issued_at = now(), period = id, place = 1,
       credited_before = '[]', refunded_minor = total_minor
     where tenant_id = $1 and id = $2`,
    [tenant, id, -net]
  )
}

const voidInvoice = (pool: pg.Pool, id: string, net: number) =>
  pool.query(
    `with ${moveBilled}, booked as (
       insert into journal_entries (tenant_id, kind, booked_at, client_id, currency_code, invoice_id, invoice_minor, credit_minor)
       values ($1, 'VOID', now(), 'clnt_1', 'EUR', $2, $3, 0)
     )
     update invoices set status = 'VOID' where tenant_id = $1 and id = $2`,
    [tenant, id, -net]
  )

/** A delivery whose file has an identifier, alone. */
const insertUpload = (pool: pg.Pool, id: string, invoice: string, deliveredAt: string | null) =>
  withoutTriggers(pool, async (connection) => {
    await connection.query(
      `insert into deliveries (tenant_id, id, integration_id, event_id, event_type, resource_id, sequence, status, attempts,
         delivered_at, created_at, updated_at)
       values ($1, $2, 'int_1', $2, 'invoice.finalized', $3, 1, $4, 2, $5, '2026-01-01Z', now())`,
      [tenant, id, invoice, deliveredAt === null ? "EXHAUSTED" : "DELIVERED", deliveredAt]
    )
    await connection.query("insert into delivery_files values ($1, $2, 'file')", [tenant, id])
  })

describe("The upgrade from a release in which an invoice could be taken back twice", () => {
  const at = useFixture(() => startOldDatabase(lastBefore))

  it("counts what is credited, and goes on while the release before writes", async () => {
    const { pool, upgrade } = at()
    await insertOwner(pool)
    for (const [id, net] of [
      ["inv_whole", 1000],
      ["inv_part", 1000],
      ["inv_beyond", 200],
      ["inv_twice", 1000],
      ["inv_new", 1000]
    ] as const)
      await insertInvoice(pool, id, net)
    await insertNote(pool, "crn_1", "inv_whole", 1000)
    await insertNote(pool, "crn_2", "inv_part", 300)
    await insertNote(pool, "crn_3", "inv_part", 100)
    await insertNote(pool, "crn_4", "inv_beyond", 300)
    await insertNote(pool, "crn_5", "inv_twice", 1000)
    await voidInvoice(pool, "inv_twice", 1000)
    await insertUpload(pool, "dlv_1", "inv_whole", "2026-02-01Z")
    await insertUpload(pool, "dlv_2", "inv_part", null)

    await upgrade()
    const creditedOf = async () => {
      const { rows } = await pool.query("select id, credited_net_minor::int as credited from invoices order by id")
      return Object.fromEntries(rows.map(({ credited, id }) => [id, credited]))
    }
    const before = { inv_whole: 1000, inv_part: 400, inv_beyond: 200, inv_twice: null, inv_new: null }
    assert.deepStrictEqual(await creditedOf(), before)
    const billed = async () =>
      Number((await pool.query("select billed_minor from contracts where id = 'ctr_1'")).rows[0]?.billed_minor)
    const expected = 5 * 1000 - 800 - 1000 - 400 - 300 - 1000 - 1000
    assert.strictEqual(await billed(), expected)
    const { rows } = await pool.query(
      "select delivery_id, attempt, integration_id, invoice_id, started_at, stored_at from invoice_uploads order by 1"
    )
    const upload = { attempt: 2, integration_id: "int_1", started_at: new Date("2026-01-01Z") }
    assert.deepStrictEqual(rows, [
      { ...upload, delivery_id: "dlv_1", invoice_id: "inv_whole", stored_at: new Date("2026-02-01Z") },
      { ...upload, delivery_id: "dlv_2", invoice_id: "inv_part", stored_at: null }
    ])

    await insertNote(pool, "crn_6", "inv_part", 600)
    await insertInvoice(pool, "inv_after", 70)
    await insertNote(pool, "crn_7", "inv_new", 10)
    await voidInvoice(pool, "inv_after", 70)
    assert.deepStrictEqual(await creditedOf(), { ...before, inv_part: 1000, inv_new: 10, inv_after: null })
    assert.strictEqual(await billed(), expected - 600 - 10)
    const failure = await voidInvoice(pool, "inv_new", 1000).catch((error) => error)
    assert.strictEqual(failure.constraint, "invoices_credited_net")
  })
})
