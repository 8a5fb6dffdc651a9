import type pg from "pg"
import { assert, describe, it, onTestFinished } from "vitest"
import { developmentIssuer } from "../../../../src/layers/infra/auth/DevelopmentKey.ts"
import { useFixture } from "../../../support/fixtures/useFixture.ts"
import { startOldDatabase } from "../../../support/servers/oldDatabase.ts"
import { startService } from "../../../support/servers/service.ts"

/** The last migration of the release without fields for electronic invoices. */
const lastBefore = 37

const tenant = "tnt_00000000000000000000000001"
const client = "clnt_00000000000000000000000001"
const contract = "ctr_00000000000000000000000001"
const idOf = (prefix: string, n: number) => `${prefix}_${String(n).padStart(26, "0")}`

const parties = { tenant: { name: "Harbour Works" }, client: { name: "Northwind" }, contract: { name: "Pumps" } }

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
     values ($1, $2, $3, 'Pumps', 'ACTIVE', 'EUR', 30, 0, now(), now(), 1)`,
    [tenant, contract, client]
  )
}

/** Inserts a draft of one line, then finalizes it, as the release before does. */
const insertIssued = async (pool: pg.Pool, n: number) => {
  await pool.query(
    `insert into invoices (tenant_id, id, contract_id, status, currency_code, subtotal_minor, total_minor,
       billable_count, tax_sets, created_at, updated_at, sequence)
     values ($1, $2, $3, 'DRAFT', 'EUR', 1000, 1000, 1, $4, '2026-01-01Z', '2026-01-01Z', 1)`,
    [tenant, idOf("inv", n), contract, JSON.stringify([{ taxRates: [], netMinor: 1000, lineCount: 1 }])]
  )
  await pool.query(
    `insert into billables (tenant_id, id, invoice_id, name, quantity, amount_minor, currency_code, line_total_minor,
       tax_rates, created_at, updated_at, sequence)
     values ($1, $2, $3, 'Work', 1, 1000, 'EUR', 1000, '[]', '2026-01-01Z', '2026-01-01Z', 1)`,
    [tenant, idOf("bil", n), idOf("inv", n)]
  )
  await pool.query(
    `with booked as (
       insert into journal_entries (tenant_id, kind, booked_at, client_id, currency_code, invoice_id, invoice_minor,
         credit_minor)
       values ($1, 'INVOICE', '2026-01-01Z', $3, 'EUR', $2, 1000, 0)
     )
     update invoices set status = 'FINALIZED', invoice_number = 'INV-' || $4, issued_at = '2026-01-01Z',
       due_at = '2026-01-31Z', period = 'all', place = $4::integer, parties = $5, sequence = 2
     where tenant_id = $1 and id = $2`,
    [tenant, idOf("inv", n), client, String(n + 1), JSON.stringify(parties)]
  )
}

const readInvoices = async (pool: pg.Pool, count: number) =>
  (
    await pool.query(
      `select id, status, invoice_number, total_minor, issued_at, due_at, parties::text, updated_at, sequence
       from invoices where id < $1 order by id`,
      [idOf("inv", count)]
    )
  ).rows

describe("The upgrade from a release without fields for electronic invoices", () => {
  const at = useFixture(() => startOldDatabase(lastBefore))

  it("keeps issued invoices while the release before still issues, and shows them without the fields", async () => {
    const { pool, upgrade, url } = at()
    await insertOwner(pool)
    const count = 20
    for (let n = 0; n < count; n++) await insertIssued(pool, n)
    const before = await readInvoices(pool, count)
    assert.lengthOf(before, count)

    let isUpgraded = false
    let next = count
    const issueOnAndOn = async () => {
      do await insertIssued(pool, next++)
      while (!isUpgraded)
    }
    const issuing = issueOnAndOn()
    await upgrade()
    isUpgraded = true
    await issuing
    await insertIssued(pool, next++)
    assert.deepStrictEqual(await readInvoices(pool, count), before)

    const service = await startService({ DATABASE_URL: url })
    onTestFinished(service.stop)
    const read = async (path: string) => {
      const { body, status, text } = await service.api("GET", path, { as: "owner", tenant })
      assert.strictEqual(status, 200, text)
      return body.data
    }
    for (const n of [0, next - 1]) {
      const invoice = await read(`/invoices/${idOf("inv", n)}`)
      assert.deepInclude(invoice, { status: "FINALIZED", totalMinor: 1000 })
      assert.notProperty(invoice, "notes")
      assert.notProperty(invoice, "serviceFrom")
      assert.notProperty(await read(`/billables/${idOf("bil", n)}`), "unitCode")
      const pdf = await service.api("GET", `/invoices/${idOf("inv", n)}/pdf`, { as: "owner", tenant })
      assert.strictEqual(pdf.status, 200)
    }
    assert.notProperty(await read(`/clients/${client}`), "language")
  })

  it("freezes the new columns of invoices issued before", async () => {
    const { pool } = at()
    for (const change of ["notes = 'x'", "service_to = '2026-01-01'", "buyer_reference = 'x'"]) {
      const error: unknown = await pool
        .query(`update invoices set ${change} where id = $1`, [idOf("inv", 0)])
        .catch((cause) => cause)
      assert.include(String(error), "cannot be changed", change)
    }
  })
})
