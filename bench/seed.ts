import { Effect } from "effect"
import pg from "pg"
import { suffix } from "../src/layers/Ids.ts"
import { caller } from "./caller.ts"
import { tenants } from "./tenants.ts"

const descriptions = [
  "Framework agreement since 2019. Invoices go to the accounts office in Zürich by the fifth of the month; the contact is told by phone first.",
  'Pays on 30 days. Known in the trade as "the yard"; deliveries only before noon.',
  "Seasonal: from October to March nothing is ordered, and the open positions are carried over into the new year without interest, as agreed with the managing director in the letter of 12 May."
]

/** A third has a description, a quarter a place of its own in the order. */
const clientRow = (n: number) => ({
  id: `clnt_${suffix(Date.now())}`,
  name: `${["Nordwind", "Ölmühle", "Baker & Sons", "Quarry Lane", "Atelier 9"][n % 5]} ${n}`,
  description: n % 3 === 0 ? descriptions[n % descriptions.length] : null,
  order: n % 4 === 0 ? n : null,
  at: new Date(Date.UTC(2026, 0, 1) + n * 3_607_123).toISOString()
})

const insertTenant = (client: pg.Client, { clients, id, role }: (typeof tenants)[keyof typeof tenants]) =>
  Effect.promise(async () => {
    await client.query(
      "insert into tenants (id, name, created_at, updated_at, sequence) values ($1, $2, now(), now(), 1)",
      [id, `Tenant with ${clients} clients`]
    )
    if (role !== undefined)
      await client.query(
        `insert into members (tenant_id, id, issuer, subject, role, created_at, updated_at, sequence)
         values ($1, $2, $3, $4, $5, now(), now(), 1)`,
        [id, `mem_${suffix(Date.now())}`, caller.issuer, caller.subject, role]
      )
    await client.query(
      `insert into clients (tenant_id, id, name, description, "order", created_at, updated_at, sequence)
       select $1, id, name, description, "order", at, at, 1
       from json_to_recordset($2) as (id text, name text, description text, "order" bigint, at timestamptz)`,
      [id, JSON.stringify(Array.from({ length: clients }, (_, n) => clientRow(n)))]
    )
  })

const connected = (connectionString: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const client = new pg.Client({ connectionString })
      await client.connect()
      return client
    }),
    (client) => Effect.promise(() => client.end())
  )

/** Fills the tables and leaves the database as one that has been at rest: with statistics and nothing left to flush. */
export const seed = (databaseUrl: string) =>
  Effect.gen(function* () {
    const client = yield* connected(databaseUrl)
    yield* Effect.forEach(Object.values(tenants), (tenant) => insertTenant(client, tenant))
    yield* Effect.promise(() => client.query("vacuum analyze"))
    yield* Effect.promise(() => client.query("checkpoint"))
  }).pipe(Effect.scoped)

/** What of durability is switched on, so that nobody compares numbers made without. */
export const durability = (databaseUrl: string) =>
  Effect.gen(function* () {
    const client = yield* connected(databaseUrl)
    const { rows } = yield* Effect.promise(() =>
      client.query<{ name: string; setting: string }>(
        "select name, setting from pg_settings where name in ('fsync', 'synchronous_commit') order by name"
      )
    )
    return rows.map(({ name, setting }) => `${name} ${setting}`).join(", ")
  }).pipe(Effect.scoped)
