import type { ServerResponse } from "node:http"
import type pg from "pg"
import { makeId } from "../../src/layers/postgres/IdGenerator.ts"
import { startReceiver } from "./receiver.ts"

/** A receiver that answers nobody until it is released, and then everybody. */
export const startHoldingReceiver = async () => {
  const held = new Map<ServerResponse, string>()
  const started = await startReceiver(({ path }, response) => {
    held.set(response, path)
    response.on("close", () => held.delete(response))
  })
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
  const rows = Array.from({ length: count }, () => [makeId("dlv"), makeId("evt"), makeId("clnt")])
  const columns = [0, 1, 2].map((column) => rows.map((row) => row[column]))
  await pool.query(
    `with planted as (select * from unnest($3::text[], $4::text[], $5::text[]) as planted (id, event, resource)),
     happened as (
       insert into events (tenant_id, id, type, resource_id, sequence, occurred_at, data)
       select $1, event, 'client.created', resource, 1, now(), '{}' from planted
     )
     insert into deliveries (tenant_id, id, integration_id, event_id, event_type, resource_id, sequence, status,
       next_attempt_at, created_at, updated_at)
     select $1, id, $2, event, 'client.created', resource, 1, 'PENDING', now(), now(), now() from planted`,
    [tenant, id, ...columns]
  )
  return id
}

export interface Many {
  readonly tenants: number
  /** Of each tenant. */
  readonly integrations: number
  /** In how long the one delivery of each is due. */
  readonly dueIn: string
  readonly status?: "ACTIVE" | "PAUSED"
}

/** Puts many integrations with one pending delivery each into the database; tells their ids. */
export const plantMany = async (pool: pg.Pool, { dueIn, integrations, status = "ACTIVE", tenants }: Many) => {
  const rows = Array.from({ length: tenants }, () => makeId("tnt")).flatMap((tenant) =>
    Array.from({ length: integrations }, () => ({
      tenant,
      id: makeId("int"),
      event: makeId("evt"),
      delivery: makeId("dlv"),
      resource: makeId("clnt")
    }))
  )
  await pool.query(
    `with planted as materialized (
       select * from json_to_recordset($1) as planted (tenant text, id text, event text, delivery text, resource text)
     ), owners as (
       insert into tenants (id, name, created_at, updated_at, sequence)
       select distinct tenant, 'T', now(), now(), 1 from planted
     ), receivers as (
       insert into integrations (tenant_id, id, provider, name, status, is_authorized, config, subscriptions, created_at,
         updated_at, sequence)
       select tenant, id, 'WEBHOOK', 'R', $2, true, '{"url":"http://127.0.0.1"}', '[]', now(), now(), 1 from planted
     ), happened as (
       insert into events (tenant_id, id, type, resource_id, sequence, occurred_at, data)
       select tenant, event, 'client.created', resource, 1, now(), '{}' from planted
     )
     insert into deliveries (tenant_id, id, integration_id, event_id, event_type, resource_id, sequence, status,
       next_attempt_at, created_at, updated_at)
     select tenant, delivery, id, event, 'client.created', resource, 1, 'PENDING', now() + $3::interval, now(), now()
     from planted`,
    [JSON.stringify(rows), status, dueIn]
  )
  return rows.map(({ id }) => id)
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
