import { Effect } from "effect"
import type pg from "pg"
import { withProgress } from "../../src/layers/local/ConsoleProgress.ts"
import { caller } from "../caller.ts"
import { settle } from "../database.ts"

export const perTenant = { members: 5, clients: 20, contracts: 100, projects: 1000 }

/** Identifiers as long as the service's that sort by number, as those sort by time. */
const identifier = `
  create or replace function pg_temp.made(prefix text, tenant integer, n integer) returns text
  language sql immutable as $$
    select prefix || '_' || lpad(n::text, 5, '0') || lpad(tenant::text, 5, '0') || left(md5(tenant || '.' || n), 16)
  $$`

const tenantOf = "pg_temp.made('tnt', t, 0)"

/** Statements that fill tenants $1 to $2 with all but their projects. The caller is a member of each. */
const surroundings = [
  `insert into tenants (id, name, created_at, updated_at, sequence)
   select ${tenantOf}, 'Tenant ' || t, now(), now(), 1 from generate_series($1::integer, $2) t`,

  `insert into members (tenant_id, id, issuer, subject, role, created_at, updated_at, sequence)
   select ${tenantOf}, pg_temp.made('mem', t, n), '${caller.issuer}',
     case n when 1 then '${caller.subject}' else 'subject ' || t || '.' || n end, 'MEMBER', now(), now(), 1
   from generate_series($1::integer, $2) t, generate_series(1, ${perTenant.members}) n`,

  `insert into clients (tenant_id, id, name, description, "order", created_at, updated_at, sequence)
   select ${tenantOf}, pg_temp.made('clnt', t, n), 'Client ' || n,
     case when n % 3 = 0 then repeat('Pays on 30 days. ', 1 + n % 8) end, case when n % 4 = 0 then n end, now(), now(), 1
   from generate_series($1::integer, $2) t, generate_series(1, ${perTenant.clients}) n`,

  `insert into contracts (tenant_id, id, client_id, name, status, currency_code, payment_term_days, created_at,
     updated_at, sequence)
   select ${tenantOf}, pg_temp.made('ctr', t, n), pg_temp.made('clnt', t, 1 + n % ${perTenant.clients}),
     'Contract ' || n, 'ACTIVE', 'CHF', 30, now(), now(), 1
   from generate_series($1::integer, $2) t, generate_series(1, ${perTenant.contracts}) n`
]

/** Projects $3 to $4 of tenants $1 to $2, in the order of time: those of one tenant lie between those of all others. */
const projects = `
  insert into projects (tenant_id, id, contract_id, name, description, "order", created_at, updated_at, sequence)
  select ${tenantOf}, pg_temp.made('prj', t, n), pg_temp.made('ctr', t, 1 + n % ${perTenant.contracts}), 'Project ' || n,
    case when n % 3 = 0 then repeat('Deliveries only before noon. ', 1 + n % 6) end, case when n % 4 = 0 then n end,
    now(), now(), 1
  from generate_series($1::integer, $2) t, generate_series($3::integer, $4) n
  order by n, t`

/** As many as are inserted in a few seconds, so that it shows how far it got. */
const atOnce = 100_000

type Run = (text: string, values?: Array<number>) => Effect.Effect<unknown>

const addProjects = (run: Run, first: number, last: number) =>
  Effect.gen(function* () {
    const tenants = last - first + 1
    const total = tenants * perTenant.projects
    const portion = Math.min(perTenant.projects, Math.ceil(atOnce / tenants))
    for (let from = 1; from <= perTenant.projects; from += portion) {
      const to = Math.min(from + portion - 1, perTenant.projects)
      const told = `${(to * tenants).toLocaleString("en")} of ${total.toLocaleString("en")} projects`
      yield* withProgress(`Adding ${told}`, run(projects, [first, last, from, to]), () => `${told} added`)
    }
  })

/** Adds the tenants with these numbers and all they have, and leaves the database at rest. */
export const grow = (client: pg.Client, first: number, last: number) =>
  Effect.gen(function* () {
    const run: Run = (text, values = []) => Effect.promise(() => client.query(text, values))
    yield* run(identifier)
    yield* withProgress(
      `Adding ${last - first + 1} tenants`,
      Effect.forEach(surroundings, (text) => run(text, [first, last])),
      () => `${last - first + 1} tenants with clients and contracts added`
    )
    yield* addProjects(run, first, last)
    yield* withProgress("Vacuuming and analysing", settle(client), () => "Database at rest")
  })
