import { Effect } from "effect"
import type pg from "pg"
import { withProgress } from "../../tools/local/ConsoleProgress.ts"
import { vacuumAndCheckpoint } from "../database.ts"
import { benchCaller } from "../tokenIssuer.ts"

export const rowsPerTenant = { members: 5, clients: 20, contracts: 100, projects: 1000 }

/** Ids as long as those of the service, sorted by number. */
const createIdFunction = `
  create or replace function pg_temp.make_id(prefix text, tenant integer, n integer) returns text
  language sql immutable as $$
    select prefix || '_' || lpad(n::text, 5, '0') || lpad(tenant::text, 5, '0') || left(md5(tenant || '.' || n), 16)
  $$`

const tenantIdSql = "pg_temp.make_id('tnt', t, 0)"

/** Insert everything of tenants $1 to $2 except projects. The caller is a member of each tenant. */
const insertTenantRows = [
  `insert into tenants (id, name, created_at, updated_at, sequence)
   select ${tenantIdSql}, 'Tenant ' || t, now(), now(), 1 from generate_series($1::integer, $2) t`,

  `insert into members (tenant_id, id, issuer, subject, role, created_at, updated_at, sequence)
   select ${tenantIdSql}, pg_temp.make_id('mem', t, n), '${benchCaller.issuer}',
     case n when 1 then '${benchCaller.subject}' else 'subject ' || t || '.' || n end, 'MEMBER', now(), now(), 1
   from generate_series($1::integer, $2) t, generate_series(1, ${rowsPerTenant.members}) n`,

  `insert into clients (tenant_id, id, name, description, "order", created_at, updated_at, sequence)
   select ${tenantIdSql}, pg_temp.make_id('clnt', t, n), 'Client ' || n,
     case when n % 3 = 0 then repeat('Pays on 30 days. ', 1 + n % 8) end, case when n % 4 = 0 then n end, now(), now(), 1
   from generate_series($1::integer, $2) t, generate_series(1, ${rowsPerTenant.clients}) n`,

  `insert into contracts (tenant_id, id, client_id, name, status, currency_code, payment_term_days, created_at,
     updated_at, sequence)
   select ${tenantIdSql}, pg_temp.make_id('ctr', t, n), pg_temp.make_id('clnt', t, 1 + n % ${rowsPerTenant.clients}),
     'Contract ' || n, 'ACTIVE', 'CHF', 30, now(), now(), 1
   from generate_series($1::integer, $2) t, generate_series(1, ${rowsPerTenant.contracts}) n`
]

/** Inserts projects $3 to $4 of tenants $1 to $2, interleaved between tenants as in the course of time. */
const insertProjects = `
  insert into projects (tenant_id, id, contract_id, name, description, "order", created_at, updated_at, sequence)
  select ${tenantIdSql}, pg_temp.make_id('prj', t, n), pg_temp.make_id('ctr', t, 1 + n % ${rowsPerTenant.contracts}), 'Project ' || n,
    case when n % 3 = 0 then repeat('Deliveries only before noon. ', 1 + n % 6) end, case when n % 4 = 0 then n end,
    now(), now(), 1
  from generate_series($1::integer, $2) t, generate_series($3::integer, $4) n
  order by n, t`

/** Small enough to show progress every few seconds. */
const projectsPerInsert = 100_000

type RunStatement = (text: string, values?: Array<number>) => Effect.Effect<unknown>

const addProjects = (run: RunStatement, first: number, last: number) =>
  Effect.gen(function* () {
    const tenants = last - first + 1
    const total = tenants * rowsPerTenant.projects
    const perTenant = Math.min(rowsPerTenant.projects, Math.ceil(projectsPerInsert / tenants))
    for (let from = 1; from <= rowsPerTenant.projects; from += perTenant) {
      const to = Math.min(from + perTenant - 1, rowsPerTenant.projects)
      const label = `${(to * tenants).toLocaleString("en")} of ${total.toLocaleString("en")} projects`
      yield* withProgress(`Adding ${label}`, run(insertProjects, [first, last, from, to]), () => `${label} added`)
    }
  })

/** Inserts tenants `first` to `last` with all their rows. */
export const insertTenants = (client: pg.Client, first: number, last: number) =>
  Effect.gen(function* () {
    const run: RunStatement = (text, values = []) => Effect.promise(() => client.query(text, values))
    yield* run(createIdFunction)
    yield* withProgress(
      `Adding ${last - first + 1} tenants`,
      Effect.forEach(insertTenantRows, (text) => run(text, [first, last])),
      () => `${last - first + 1} tenants with clients and contracts added`
    )
    yield* addProjects(run, first, last)
    yield* withProgress("Vacuuming and analysing", vacuumAndCheckpoint(client), () => "Vacuumed and analysed")
  })
