import { repeat } from "../attacker.ts"
import type { Row } from "../row.ts"

const otherTenants = 200
const clientsPerTenant = 2500
const concurrency = 40

/** Names of random letters, so that every pair of letters is in many of them. */
const insertOthers = `
  with others as (
    insert into tenants (id, name, created_at, updated_at, sequence)
    select 'tnt_' || lpad(n::text, 26, '0'), 'Other ' || n, now(), now(), 1 from generate_series(1, $1::integer) n
    returning id
  )
  insert into clients (tenant_id, id, name, created_at, updated_at, sequence)
  select others.id, 'clnt_' || lpad(n::text, 26, '0'), translate(md5(others.id || n), '0123456789', 'ghijklmnzz'),
    now(), now(), 1
  from others, generate_series(1, $2::integer) n`

/** Two letters have no trigram, so an index of trigrams answers them with all of its rows, those of others included. */
export const shortSearches: Row = {
  name: `GET /clients?q=zz of a tenant with one client beside ${otherTenants * clientsPerTenant} of others, ${concurrency} at once`,
  prepare: async ({ attacker, client }) => {
    const tenant = await attacker.createTenant()
    await attacker.create("/clients", { tenant, body: { name: "Pizzeria" } })
    await client.query(insertOthers, [otherTenants, clientsPerTenant])
    await client.query("vacuum analyze clients")
    return {
      run: (signal) => repeat({ concurrency, signal }, () => attacker.call("GET", "/clients?q=zz", { tenant, signal }))
    }
  }
}
