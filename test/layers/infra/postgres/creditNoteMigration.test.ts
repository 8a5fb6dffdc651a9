import type pg from "pg"
import { assert, describe, it, onTestFinished } from "vitest"
import { developmentIssuer } from "../../../../src/layers/infra/auth/DevelopmentKey.ts"
import { useFixture } from "../../../support/fixtures/useFixture.ts"
import { startOldDatabase } from "../../../support/servers/oldDatabase.ts"
import { startService } from "../../../support/servers/service.ts"

/** The last migration of the release with payments and without credit notes. */
const lastBefore = 32

const tenant = "tnt_00000000000000000000000001"
const client = "clnt_00000000000000000000000001"
const contract = "ctr_00000000000000000000000001"
const idOf = (prefix: string, n: number) => `${prefix}_${String(n).padStart(26, "0")}`
const totalMinor = 1000

const insertOwner = async (pool: pg.Pool) => {
  await pool.query(
    `insert into tenants (id, name, created_at, updated_at, sequence) values ($1, 'Harbour Works', now(), now(), 1)`,
    [tenant]
  )
  await pool.query(
    `insert into members (tenant_id, id, issuer, subject, role, created_at, updated_at, sequence)
     values ($1, 'mbr_00000000000000000000000001', $2, 'owner', 'OWNER', now(), now(), 1)`,
    [tenant, developmentIssuer.issuer]
  )
  await pool.query(
    `insert into clients (tenant_id, id, name, created_at, updated_at, sequence)
     values ($1, $2, 'Northwind', now(), now(), 1)`,
    [tenant, client]
  )
  await pool.query(
    `insert into contracts (tenant_id, id, client_id, name, status, currency_code, payment_term_days, billed_minor,
       created_at, updated_at, sequence)
     values ($1, $2, $3, 'Contract', 'ACTIVE', 'EUR', 30, 0, now(), now(), 1)`,
    [tenant, contract, client]
  )
}

/** Inserts a finalized invoice of one line with its entry, as the release before does. */
const insertInvoice = async (pool: pg.Pool, n: number) => {
  await pool.query(
    `with booked as (
       insert into journal_entries (tenant_id, kind, booked_at, client_id, currency_code, invoice_id, invoice_minor,
         credit_minor)
       values ($1, 'INVOICE', '2026-01-01Z', $2, 'EUR', $4, $5, 0)
     ), billed as (update contracts set billed_minor = billed_minor + $5 where tenant_id = $1)
     insert into invoices (tenant_id, id, contract_id, status, invoice_number, currency_code, subtotal_minor,
       total_minor, billable_count, tax_sets, issued_at, due_at, created_at, updated_at, sequence, period, place, parties)
     values ($1, $4, $3, 'FINALIZED', 'INV-' || $6, 'EUR', $5, $5, 1, $7, '2026-01-01Z', '2026-01-31Z', '2026-01-01Z',
       '2026-01-01Z', 2, 'all', $6::integer, '{"tenant":{"name":"Harbour Works"}}')`,
    [
      ...[tenant, client, contract, idOf("inv", n), totalMinor, String(n)],
      JSON.stringify([{ taxRates: [], netMinor: totalMinor, lineCount: 1 }])
    ]
  )
  await pool.query(
    `insert into billables (tenant_id, id, invoice_id, name, quantity, amount_minor, currency_code, line_total_minor, tax_rates,
       created_at, updated_at, sequence)
     values ($1, $2, $3, 'Work', 1, $4, 'EUR', $4, '[]', '2026-01-01Z', '2026-01-01Z', 1)`,
    [tenant, idOf("bil", n), idOf("inv", n), totalMinor]
  )
}

/** Records a payment of an invoice, as the release before does. */
const pay = (pool: pg.Pool, n: number, amountMinor: number) =>
  pool.query(
    `with recorded as (
       insert into payments (tenant_id, id, client_id, currency_code, amount_minor, received_at, status, allocations,
         unallocated_minor, refunded_minor, created_at, updated_at, sequence)
       values ($1, $2, $3, 'EUR', $5::bigint + 7, now(), 'RECORDED',
         json_build_array(json_build_object('invoice', $4::text, 'amountMinor', $5::bigint)), 7, 0, now(), now(), 1)
     ), booked as (
       insert into journal_entries (tenant_id, kind, booked_at, client_id, currency_code, invoice_id, invoice_minor,
         payment_id, credit_minor)
       values ($1, 'PAYMENT', now(), $3, 'EUR', null, 0, $2, $5::bigint + 7),
         ($1, 'ALLOCATION', now(), $3, 'EUR', $4, -$5::bigint, $2, -$5::bigint)
     )
     update invoices set paid_minor = $5, updated_at = now(), sequence = sequence + 1,
       status = case when total_minor = $5 then 'PAID' else status end,
       paid_at = case when total_minor = $5 then now() end
     where tenant_id = $1 and id = $4`,
    [tenant, idOf("pay", n), client, idOf("inv", n), amountMinor]
  )

const writeOff = (pool: pg.Pool, n: number, amountMinor: number) =>
  pool.query(
    `with booked as (
       insert into journal_entries (tenant_id, kind, booked_at, client_id, currency_code, invoice_id, invoice_minor,
         credit_minor, reason)
       values ($1, 'WRITE_OFF', now(), $2, 'EUR', $3, -$4::bigint, 0, 'Goodwill')
     )
     update invoices set written_off_minor = $4, updated_at = now(), sequence = sequence + 1
     where tenant_id = $1 and id = $3`,
    [tenant, client, idOf("inv", n), amountMinor]
  )

/** Invoices in turn: open, paid in part, paid, written off in part. */
const insertSettledInvoice = async (pool: pg.Pool, n: number) => {
  await insertInvoice(pool, n)
  if (n % 4 === 1) await pay(pool, n, 400)
  if (n % 4 === 2) await pay(pool, n, totalMinor)
  if (n % 4 === 3) await writeOff(pool, n, 300)
}

const readRows = async (pool: pg.Pool, count: number) => {
  const read = async (statement: string) => (await pool.query(statement, [idOf("inv", count)])).rows
  return {
    invoices: await read(
      `select id, status, total_minor, paid_minor, credited_minor, written_off_minor, paid_at, updated_at, sequence
       from invoices where id < $1 order by id`
    ),
    payments: await read(
      `select id, status, amount_minor, unallocated_minor, allocations::text, sequence from payments
       where allocations -> 0 ->> 'invoice' < $1 order by id`
    ),
    journal: await read(
      `select id, kind, booked_at, invoice_id, invoice_minor, payment_id, credit_minor, reason, invoice_place,
         balance_minor, paid_minor, written_off_minor, payment_place, unused_minor
       from journal_entries where coalesce(invoice_id, '') < $1 and payment_id is null or invoice_id < $1 order by id`
    )
  }
}

describe("The upgrade from a release without credit notes", () => {
  const at = useFixture(() => startOldDatabase(lastBefore))

  it("keeps balances and states while the release before settles invoices, and can credit them", async () => {
    const { pool, upgrade, url } = at()
    await insertOwner(pool)
    const count = 40
    for (let n = 0; n < count; n++) await insertSettledInvoice(pool, n)
    const before = await readRows(pool, count)
    assert.lengthOf(before.invoices, count)

    let isUpgraded = false
    let next = count
    const settleOnAndOn = async () => {
      do await insertSettledInvoice(pool, next++)
      while (!isUpgraded)
    }
    const settling = settleOnAndOn()
    await upgrade()
    isUpgraded = true
    await settling
    assert.deepStrictEqual(await readRows(pool, count), before)

    const service = await startService({ DATABASE_URL: url })
    onTestFinished(service.stop)
    const call = async (method: string, path: string, body?: object) => {
      const options = { as: "owner", tenant, ...(body === undefined ? {} : { body }) }
      const { body: response, status, text } = await service.api(method, path, options)
      assert.oneOf(status, [200, 201], text)
      return response.data
    }
    const numbers = Array.from({ length: next }, (_, n) => n % 4)
    const sumOf = (amounts: ReadonlyArray<number>) =>
      numbers.reduce<number>((sum, kind) => sum + (amounts[kind] ?? 0), 0)
    const readBalance = async () => (await call("GET", `/clients/${client}/balance`)).balances
    const balance = { currencyCode: "EUR", openMinor: sumOf([1000, 600, 0, 700]), unusedMinor: sumOf([0, 7, 7, 0]) }
    assert.deepInclude((await readBalance())[0], balance)

    const creditInFull = async (n: number) => {
      const invoiceId = idOf("inv", n)
      const { id } = await call("POST", "/credit-notes", { invoiceId, reason: "Mistake", full: true })
      const { allocations, totalMinor, unallocatedMinor } = await call("POST", `/credit-notes/${id}/finalize`)
      const { balanceMinor, creditedMinor, status } = await call("GET", `/invoices/${invoiceId}`)
      const settled = allocations.map((one: { amountMinor: number }) => one.amountMinor)
      return [totalMinor, settled, unallocatedMinor, status, creditedMinor, balanceMinor]
    }
    assert.deepStrictEqual(await creditInFull(0), [1000, [1000], 0, "PAID", 1000, 0])
    assert.deepStrictEqual(await creditInFull(1), [1000, [600], 400, "PAID", 600, 0])
    assert.deepStrictEqual(await creditInFull(2), [1000, [], 1000, "PAID", 0, 0])
    assert.deepStrictEqual(await creditInFull(3), [1000, [700], 300, "PAID", 700, 0])
    assert.deepInclude((await readBalance())[0], {
      openMinor: balance.openMinor - 2300,
      unusedMinor: balance.unusedMinor + 1700
    })
  })
})
