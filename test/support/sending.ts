import type { ServerResponse } from "node:http"
import type pg from "pg"
import { makeId } from "../../src/layers/Ids.ts"
import { plantDelivery } from "./deliveries.ts"
import { startReceiver } from "./receiver.ts"

/** A receiver that answers nobody until it is released, and then everybody. */
export const startHoldingReceiver = async () => {
  const held = new Map<ServerResponse, string>()
  const started = await startReceiver(({ path }, response) => void held.set(response, path))
  return {
    ...started,
    /** How many wait for an answer, by the path they came to. */
    held: () => {
      const counts = new Map<string, number>()
      for (const path of held.values()) counts.set(path, (counts.get(path) ?? 0) + 1)
      return counts
    },
    release: () => {
      started.answer((_, response) => response.end())
      for (const response of held.keys()) response.end()
      held.clear()
    }
  }
}

/** Puts a tenant into the database that nobody belongs to; tells its id. */
export const plantTenant = async (pool: pg.Pool) => {
  const id = makeId("tnt")
  await pool.query(
    "insert into tenants (id, name, created_at, updated_at, sequence) values ($1, 'T', now(), now(), 1)",
    [id]
  )
  return id
}

/** Puts an integration with this many deliveries that are due into the database; tells its id. */
export const plantDue = async (pool: pg.Pool, tenant: string, url: string, count: number) => {
  const id = makeId("int")
  await pool.query(
    `insert into integrations (tenant_id, id, provider, name, status, is_authorized, config, subscriptions, created_at,
       updated_at, sequence) values ($1, $2, 'WEBHOOK', 'Receiver', 'PAUSED', true, $3, '[]', now(), now(), 1)`,
    [tenant, id, JSON.stringify({ url })]
  )
  const due = { status: "PENDING", attempts: 0, nextAttemptAt: new Date().toISOString() } as const
  await Promise.all(Array.from({ length: count }, () => plantDelivery(pool, tenant, id, due)))
  return id
}

/** Lets what was planted for these integrations go. */
export const resume = (pool: pg.Pool, ...integrations: ReadonlyArray<string>) =>
  pool.query("update integrations set status = 'ACTIVE' where id = any($1)", [integrations])

export const statusesOf = async (pool: pg.Pool, integration: string) => {
  const { rows } = await pool.query<{ status: string; count: number }>(
    "select status, count(*)::int from deliveries where integration_id = $1 group by 1",
    [integration]
  )
  return Object.fromEntries(rows.map(({ count, status }) => [status, count]))
}
