import { Effect } from "effect"
import type pg from "pg"
import { makeIdSuffix } from "../src/layers/infra/postgres/IdGenerator.ts"
import { connectDatabase, vacuumAndCheckpoint } from "./database.ts"
import { insertInvoices } from "./invoiceSeed.ts"
import type { Row } from "./row.ts"
import { manyTenants, type SeedTenant, tenants } from "./tenants.ts"
import { benchCaller } from "./tokenIssuer.ts"

const descriptions = [
  "Framework agreement since 2019. Invoices go to the accounts office in Zürich by the fifth of the month; the contact is told by phone first.",
  'Pays on 30 days. Known in the trade as "the yard"; deliveries only before noon.',
  "Seasonal: from October to March nothing is ordered, and the open positions are carried over into the new year without interest, as agreed with the managing director in the letter of 12 May."
]

/** A third has a description, a quarter an order. */
const makeCommonFields = (n: number) => ({
  name: `${["Nordwind", "Ölmühle", "Baker & Sons", "Quarry Lane", "Atelier 9"][n % 5]} ${n}`,
  description: n % 3 === 0 ? descriptions[n % descriptions.length] : null,
  order: n % 4 === 0 ? n : null,
  at: new Date(Date.UTC(2026, 0, 1) + n * 3_607_123).toISOString()
})

const insertTenant = async (client: pg.Client, { caller, clients, id, projects, role }: SeedTenant) => {
  await client.query(
    "insert into tenants (id, name, created_at, updated_at, sequence) values ($1, $2, now(), now(), 1)",
    [id, `Tenant with ${clients.length} clients and ${projects.length} projects`]
  )
  if (role !== undefined)
    await client.query(
      `insert into members (tenant_id, id, issuer, subject, role, created_at, updated_at, sequence)
       values ($1, $2, $3, $4, $5, now(), now(), 1)`,
      [id, `mem_${makeIdSuffix(Date.now())}`, benchCaller.issuer, caller, role]
    )
}

const insertClients = (client: pg.Client, { clients, id: tenant }: SeedTenant) =>
  client.query(
    `insert into clients (tenant_id, id, name, description, "order", created_at, updated_at, sequence)
     select $1, id, name, description, "order", at, at, 1
     from json_to_recordset($2) as (id text, name text, description text, "order" bigint, at timestamptz)`,
    [tenant, JSON.stringify(clients.map((id, n) => ({ id, ...makeCommonFields(n) })))]
  )

/** Two contracts per client. Half have a term, a third a cap. */
const insertContracts = async (client: pg.Client, { clients, id: tenant }: SeedTenant) => {
  const contracts = [...clients, ...clients].map((client, n) => ({
    id: `ctr_${makeIdSuffix(Date.now())}`,
    client,
    ...makeCommonFields(n),
    starts: n % 2 === 0 ? makeCommonFields(n).at : null,
    ends: n % 2 === 0 ? makeCommonFields(n + 365 * 24).at : null,
    cap: n % 3 === 0 ? 1_000_000 + n : null
  }))
  await client.query(
    `insert into contracts (tenant_id, id, client_id, name, description, status, currency_code, starts_at, ends_at,
       payment_term_days, cap_minor, "order", created_at, updated_at, sequence)
     select $1, id, client, name, description, 'ACTIVE', 'CHF', starts, ends, 30, cap, "order", at, at, 1
     from json_to_recordset($2) as (id text, client text, name text, description text, starts timestamptz,
       ends timestamptz, cap bigint, "order" bigint, at timestamptz)`,
    [tenant, JSON.stringify(contracts)]
  )
  return contracts.map(({ id }) => id)
}

const insertProjects = (client: pg.Client, { id: tenant, projects }: SeedTenant, contracts: ReadonlyArray<string>) =>
  client.query(
    `insert into projects (tenant_id, id, contract_id, name, description, "order", created_at, updated_at, sequence)
     select $1, id, contract, name, description, "order", at, at, 1
     from json_to_recordset($2) as
       (id text, contract text, name text, description text, "order" bigint, at timestamptz)`,
    [
      tenant,
      JSON.stringify(
        projects.map((id, n) => ({ id, contract: contracts[n % contracts.length], ...makeCommonFields(n) }))
      )
    ]
  )

const seedTenant = (client: pg.Client, tenant: SeedTenant, hasInvoices: boolean) =>
  Effect.promise(async () => {
    await insertTenant(client, tenant)
    await insertClients(client, tenant)
    if (tenant.projects.length > 0) await insertProjects(client, tenant, await insertContracts(client, tenant))
    if (tenant.invoices.length > 0 && hasInvoices) await insertInvoices(client, tenant)
  })

/** Seeds what the rows request. Invoices take long, so they are inserted only for tenants that need them. */
export const seedDatabase = (databaseUrl: string, rows: ReadonlyArray<Row>, maxInvoices = Number.POSITIVE_INFINITY) =>
  Effect.gen(function* () {
    const client = yield* connectDatabase(databaseUrl)
    const requestedTenants = new Set(rows.flatMap(({ requests }) => requests.map(({ tenant }) => tenant)))
    const needsInvoices = ({ id, role }: SeedTenant) => role === undefined || requestedTenants.has(id)
    const all = [...Object.values(tenants), ...Object.values(manyTenants).flat()].map((tenant) => ({
      ...tenant,
      invoices: tenant.invoices.slice(0, maxInvoices),
      creditNotes: tenant.creditNotes.slice(0, maxInvoices)
    }))
    yield* Effect.forEach(all, (tenant) => seedTenant(client, tenant, needsInvoices(tenant)))
    yield* vacuumAndCheckpoint(client)
  }).pipe(Effect.scoped)
