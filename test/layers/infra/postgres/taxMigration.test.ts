import type pg from "pg"
import { assert, describe, it } from "vitest"
import { useFixture } from "../../../support/fixtures/useFixture.ts"
import { startOldDatabase } from "../../../support/servers/oldDatabase.ts"

/** The last migration of the release without taxes. */
const lastBefore = 23

const tenant = "tnt_00000000000000000000000001"

/** Writes as the release without taxes does: a client with two contracts, and invoices of every status. */
const insertOldRows = async (pool: pg.Pool) => {
  await pool.query(
    `insert into tenants (id, name, created_at, updated_at, sequence) values ($1, 'Harbour Works', now(), now(), 1)`,
    [tenant]
  )
  await pool.query(
    `insert into clients (tenant_id, id, name, created_at, updated_at, sequence)
     select $1, 'clnt_' || n, 'Client ' || n, now(), now(), 1 from generate_series(0, 1) n`,
    [tenant]
  )
  await pool.query(
    `insert into contracts (tenant_id, id, client_id, name, status, currency_code, payment_term_days, created_at,
       updated_at, sequence)
     select $1, 'ctr_' || n, 'clnt_' || n % 2, 'Contract', 'ACTIVE', 'EUR', 30, now(), now(), 1
     from generate_series(0, 3) n`,
    [tenant]
  )
  await pool.query(
    `insert into invoices (tenant_id, id, contract_id, status, invoice_number, currency_code, subtotal_minor,
       total_minor, billable_count, issued_at, due_at, paid_at, created_at, updated_at, sequence, period, place, parties)
     select $1, 'inv_' || lpad(n::text, 6, '0'), 'ctr_' || n % 4, status, case when issued then 'N-' || n end, 'EUR',
       n, n, 1, case when issued then now() end, now(), case when status = 'PAID' then now() end, now(), now(), 1,
       case when issued then 'all' end, case when issued then n end,
       case when issued then '{"tenant":{"name":"Harbour Works"}}'::json end
     from (select n, (array['DRAFT', 'FINALIZED', 'PAID', 'VOID'])[1 + n % 4] as status, n % 4 > 0 as issued
       from generate_series(1, 6000) n) numbered`,
    [tenant]
  )
}

const oldColumns = `id, contract_id, status, invoice_number, currency_code, subtotal_minor, total_minor, billable_count,
  issued_at, due_at, paid_at, created_at, updated_at, sequence, period, place, parties::text`

describe("The upgrade from a release without taxes", () => {
  const at = useFixture(() => startOldDatabase(lastBefore))

  it("keeps every value of every invoice while the release before still writes", { timeout: 60_000 }, async () => {
    const { pool, upgrade } = at()
    await insertOldRows(pool)
    const readRows = async (below: string) =>
      (await pool.query(`select ${oldColumns} from invoices where id < $1 order by id`, [below])).rows
    const before = await readRows("inv_1")
    assert.lengthOf(before, 6000)

    let isUpgraded = false
    let written = 0
    const writeOnAndOn = async () => {
      while (!isUpgraded) {
        const id = `inv_1${String(written++).padStart(8, "0")}`
        await pool.query(
          `insert into invoices (tenant_id, id, contract_id, status, currency_code, subtotal_minor, total_minor,
             billable_count, created_at, updated_at, sequence)
           values ($1, $2, 'ctr_1', 'DRAFT', 'EUR', 0, 0, 0, now(), now(), 1)`,
          [tenant, id]
        )
        await pool.query(
          "update invoices set subtotal_minor = 7, total_minor = 7, billable_count = 1 where tenant_id = $1 and id = $2",
          [tenant, id]
        )
      }
    }
    const writing = writeOnAndOn()
    await upgrade()
    isUpgraded = true
    await writing

    assert.deepStrictEqual(await readRows("inv_1"), before)
    assert.isAbove(written, 0)
    const { rows } = await pool.query(
      `select count(*)::int as count,
         count(*) filter (where discount_minor = 0 and tax_minor = 0 and taxes::text = '[]' and tax_sets::text = '[]')::int
           as untaxed,
         count(*) filter (where client_id = 'clnt_' || right(contract_id, 1)::int % 2)::int as of_client
       from invoices`
    )
    const all = 6000 + written
    assert.deepStrictEqual(rows, [{ count: all, untaxed: all, of_client: all }])
  })

  it("still rejects every change of a paid invoice, and totals that do not add up", async () => {
    const { pool } = at()
    const change = (column: string, status: string) =>
      pool.query(`update invoices set ${column} where tenant_id = $1 and status = '${status}'`, [tenant])
    for (const column of ["client_id = null", "updated_at = now()", "tax_minor = 1, total_minor = total_minor + 1"]) {
      const error: unknown = await change(column, "PAID").catch((cause) => cause)
      assert.include(String(error), "cannot be changed", column)
    }
    const error: unknown = await change("tax_minor = 1", "DRAFT").catch((cause) => cause)
    assert.include(String(error), "invoices_total")
  })
})
