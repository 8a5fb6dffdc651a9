import type pg from "pg"

/** Some without an order, some with the same, and the largest there is. */
const orders = `(array[null, 0, 7, 7, null, 9007199254740991]::bigint[])[n % 6 + 1]`

/** Puts many clients into a tenant, whose identifiers are in another order than their age. */
export const plantClients = (pool: pg.Pool, tenant: string, count: number, descriptionLength = 10) =>
  pool.query(
    `insert into clients (tenant_id, id, name, description, "order", created_at, updated_at, sequence)
     select $1, 'clnt_' || substr(md5($1 || n), 1, 26), 'Client "' || n || '"',
       case when n % 3 > 0 then repeat('d', $3::int) end, ${orders}, now(), now(), 1
     from generate_series(1, $2::int) n`,
    [tenant, count, descriptionLength]
  )
