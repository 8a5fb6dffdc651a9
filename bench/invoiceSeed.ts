import type pg from "pg"
import { makeIdSuffix } from "../src/layers/infra/postgres/IdGenerator.ts"
import { insertCreditNotes } from "./creditNoteSeed.ts"
import type { SeedTenant } from "./tenants.ts"

export const seededLine = { quantity: 1.5, amount: 10_000, total: 15_000 }

/** What of a tenant its invoices depend on. */
type InvoicedTenant = Omit<SeedTenant, "caller" | "projects" | "role">

/** A multiple of the connections, so that all invoices of a contract go to the same connection. */
const maxContracts = 1024

/** Contracts of all clients in turn. A third has a cap that is never reached. */
const insertContracts = async (client: pg.Client, { clients, id, invoices }: InvoicedTenant) => {
  const length = Math.min(invoices.length, maxContracts)
  const contracts = Array.from({ length }, () => `ctr_${makeIdSuffix(Date.now())}`)
  await client.query(
    `insert into contracts (tenant_id, id, client_id, name, status, currency_code, payment_term_days, cap_minor,
       created_at, updated_at, sequence)
     select $1, id, ($3::text[])[1 + n % cardinality($3::text[])], 'Contract ' || n, 'ACTIVE', 'CHF', 30,
       case when n % 3 = 0 then 9007199254740991 end, '2026-01-01Z', '2026-01-01Z', 1
     from unnest($2::text[]) with ordinality as given (id, n)`,
    [id, contracts, clients]
  )
  return contracts
}

/** The client of the n-th invoice. */
export const selectClient = ({ clients }: InvoicedTenant, n: number) =>
  clients[((n % maxContracts) + 1) % clients.length] ?? ""

const makeAddress = (name: string) => ({ name, address1: "Hafenstrasse 12", country: "CH", city: "Basel", zip: "4057" })

export const seededParties = JSON.stringify({
  tenant: { name: "Harbour Works", address: makeAddress("Harbour Works AG") },
  client: { name: "Nordwind", address: makeAddress("Nordwind GmbH") },
  contract: { name: "Maintenance of pumps" }
})

const insertTaxRates = (client: pg.Client, { id, taxRates }: InvoicedTenant) =>
  client.query(
    `insert into tax_rates (tenant_id, id, name, percent, category, created_at, updated_at, sequence)
     select $1, id, name, percent, 'S', now(), now(), 1
     from json_to_recordset($2::json) as (id text, name text, percent numeric)`,
    [id, JSON.stringify(taxRates)]
  )

/** The lines of an invoice by tax rate. They have the rates in turn. */
const makeTaxSets = ({ lines, taxRates }: InvoicedTenant) =>
  taxRates.map(({ id }, index) => {
    const lineCount = Math.floor((lines - index - 1) / taxRates.length) + 1
    return { taxRates: [id], netMinor: lineCount * seededLine.total, lineCount }
  })

const makeTaxes = (tenant: InvoicedTenant) =>
  makeTaxSets(tenant).map(({ netMinor, taxRates }, index) => {
    const { name = "", percent = 0 } = tenant.taxRates[index] ?? {}
    const taxMinor = Math.round((netMinor * percent * 10) / 1000)
    return { taxRates, name, percent, category: "S", baseMinor: netMinor, taxMinor }
  })

const insertInvoiceRows = (client: pg.Client, tenant: InvoicedTenant, contracts: ReadonlyArray<string>) => {
  const { id, invoices, lines, status } = tenant
  const taxes = makeTaxes(tenant)
  const taxMinor = taxes.reduce((sum, tax) => sum + tax.taxMinor, 0)
  return client.query(
    `insert into invoices (tenant_id, id, contract_id, status, currency_code, subtotal_minor, total_minor,
       billable_count, taxes, tax_sets, tax_minor, created_at, updated_at, sequence, invoice_number, period, place,
       parties, issued_at, due_at)
     select $1, id, ($3::text[])[1 + (n - 1) % cardinality($3::text[])], $4, 'CHF', $5::bigint,
       $5::bigint + $10::bigint, $6::integer, $8::json, $9::json, $10::bigint, '2026-01-02Z', '2026-01-03Z', 1, issued.*
     from unnest($2::text[]) with ordinality as given (id, n)
     left join lateral (
       select 'INV-2026-' || lpad(n::text, 6, '0'), '2026', n, $7::json, '2026-01-03Z'::timestamptz,
         '2026-02-02Z'::timestamptz
     ) issued (number, period, place, parties, at, due) on $4 <> 'DRAFT'`,
    [
      ...[id, invoices, contracts, status, lines * seededLine.total, lines, seededParties],
      ...[JSON.stringify(taxes), JSON.stringify(makeTaxSets(tenant)), taxMinor]
    ]
  )
}

/** One line of three has a reference. The ids sort before those of the service. */
const insertBillables = (client: pg.Client, { id, invoices, lines, taxRates }: InvoicedTenant) =>
  client.query(
    `insert into billables (tenant_id, id, invoice_id, name, quantity, amount_minor, currency_code, line_total_minor,
       reference_type, reference_id, tax_rates, created_at, updated_at, sequence)
     select $1, 'bil_' || lpad(n::text, 10, '0') || lpad(l::text, 6, '0') || left(md5(n || '.' || l), 10), invoice,
       'Work of day ' || l, $4, $5, 'CHF', $6, case when l % 3 = 1 then 'timesheet' end,
       case when l % 3 = 1 then invoice || '.' || l end,
       case when $7::text[] = '{}' then '[]' else json_build_array(($7::text[])[1 + (l - 1) % cardinality($7::text[])]) end,
       '2026-01-03Z', '2026-01-03Z', 1
     from unnest($2::text[]) with ordinality as given (invoice, n), generate_series(1, $3) l`,
    [
      ...[id, invoices, lines, seededLine.quantity, seededLine.amount, seededLine.total],
      taxRates.map((rate) => rate.id)
    ]
  )

/** The entries that finalizing books. */
const insertJournal = (client: pg.Client, { id }: InvoicedTenant) =>
  client.query(
    `insert into journal_entries (tenant_id, kind, booked_at, client_id, currency_code, invoice_id, invoice_minor,
       credit_minor)
     select tenant_id, 'INVOICE', issued_at, client_id, currency_code, id, total_minor, 0
     from invoices where tenant_id = $1 and status = 'FINALIZED'`,
    [id]
  )

/** The reference of the first line of a seeded invoice. */
export const makeBilledReference = (invoice: string) => ({ referenceType: "timesheet", referenceId: `${invoice}.1` })

/** Inserts a tenant's invoices with their lines, contracts, journal and credit notes. */
export const insertInvoices = async (client: pg.Client, tenant: InvoicedTenant) => {
  await insertTaxRates(client, tenant)
  await insertInvoiceRows(client, tenant, await insertContracts(client, tenant))
  await insertBillables(client, tenant)
  await insertJournal(client, tenant)
  await insertCreditNotes(client, tenant)
}
