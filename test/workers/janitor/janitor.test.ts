import { assert, describe, it } from "vitest"
import { insertDelivery, insertEventRow, insertIntegration } from "../../support/fixtures/deliveryRows.ts"
import { lockRow } from "../../support/fixtures/rowLock.ts"
import { makeTenantFixture } from "../../support/fixtures/tenantFixture.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { runJanitorOnce } from "../../support/servers/janitor.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

describe("The janitor", () => {
  const at = useFixture(() => startServiceWithPool({}))

  const runOnce = (environment: Readonly<Record<string, string>> = {}) => runJanitorOnce(at().service, environment)

  const createTenantWithRows = async () => {
    const tenant = await at().service.newTenant()
    const options = { as: "owner", tenant, headers: { "idempotency-key": tenant } }
    await at().service.api("POST", "/clients", { ...options, body: { name: "C" } })
    return tenant
  }
  /** Counts the rows of all tables that contain the tenant's id in any column. */
  const countRowsMentioning = async (tenant: string) => {
    const { rows } = await at().pool.query(
      "select table_name from information_schema.tables where table_schema = 'public'"
    )
    const counts = rows.map(
      ({ table_name }) => `select count(*)::int as n from ${table_name} t where strpos(t::text, $1) > 0`
    )
    const { rows: found } = await at().pool.query(counts.join(" union all "), [tenant])
    return found.reduce((sum: number, { n }: { n: number }) => sum + n, 0)
  }

  it("erases a deleted tenant completely after its retention, and nothing before", async () => {
    const [kept, deleted] = [await createTenantWithRows(), await createTenantWithRows()]
    await at().service.api("DELETE", `/tenants/${deleted}`, { as: "owner" })
    const before = await countRowsMentioning(deleted)
    assert.isAbove(before, 4)
    await runOnce({ TENANT_RETENTION_DAYS: "1" })
    assert.strictEqual(await countRowsMentioning(deleted), before)
    await at().pool.query("update tenants set deleted_at = now() - interval '25 hours' where id = $1", [deleted])
    const keptBefore = await countRowsMentioning(kept)
    await Promise.all([runOnce({ TENANT_RETENTION_DAYS: "1" }), runOnce({ TENANT_RETENTION_DAYS: "1" })])
    assert.strictEqual(await countRowsMentioning(deleted), 0)
    assert.strictEqual(await countRowsMentioning(kept), keptBefore)
  })

  /** The number of the tenant's rows in each table with a tenant_id. */
  const countRowsByTable = async (tenant: string) => {
    const { rows: tables } = await at().pool.query<{ name: string }>(
      `select table_name as name from information_schema.columns join information_schema.tables using (table_name)
       where columns.table_schema = 'public' and column_name = 'tenant_id' and table_type = 'BASE TABLE'`
    )
    const counts = tables.map(({ name }) => `select '${name}' as name, count(*)::int from ${name} where tenant_id = $1`)
    const { rows } = await at().pool.query<{ name: string; count: number }>(counts.join(" union all "), [tenant])
    return new Map(rows.map(({ count, name }) => [name, count]))
  }

  it("erases the rows of a tenant in every delivery table, and no row of another tenant", async () => {
    const [kept, deleted] = await Promise.all([
      makeTenantFixture(at().service, "owner"),
      makeTenantFixture(at().service, "owner")
    ])
    const before = await countRowsByTable(deleted.tenant)
    for (const table of [
      "outbox",
      "event_feed",
      "all_integrations",
      "integration_secrets",
      "subscriptions",
      "deliveries",
      "delivery_attempts",
      "redeliveries"
    ]) {
      assert.isAbove(before.get(table) ?? 0, 0, table)
    }
    const keptBefore = await countRowsByTable(kept.tenant)
    await at().service.api("DELETE", `/tenants/${deleted.tenant}`, { as: "owner" })
    await runOnce({ TENANT_RETENTION_DAYS: "0" })
    assert.deepStrictEqual(new Set((await countRowsByTable(deleted.tenant)).values()), new Set([0]))
    assert.strictEqual(await countRowsMentioning(deleted.tenant), 0)
    assert.deepStrictEqual(await countRowsByTable(kept.tenant), keptBefore)
  })

  const daysAgo = (days: number) => new Date(Date.now() - days * 24 * 60 * 60 * 1000).toISOString()
  const idsOf = async (table: string, tenant: string) => {
    const { rows } = await at().pool.query<{ id: string }>(`select id from ${table} where tenant_id = $1 order by id`, [
      tenant
    ])
    return rows.map(({ id }) => id)
  }
  const createIntegratedTenant = async () => {
    const tenant = await at().service.newTenant()
    return { tenant, integration: await insertIntegration(at().pool, tenant), ownEvents: await idsOf("events", tenant) }
  }

  it("deletes old events with finished deliveries, their deliveries and feed rows, and no other events", async () => {
    const { integration, ownEvents, tenant } = await createIntegratedTenant()
    const old = daysAgo(31)
    const insert = (delivery: Parameters<typeof insertDelivery>[3]) =>
      insertDelivery(at().pool, tenant, integration, delivery)
    for (const status of ["DELIVERED", "EXHAUSTED"] as const) await insert({ at: old, status })
    await insertEventRow(at().pool, tenant, { at: old })
    const kept = [
      await insert({ at: daysAgo(29) }),
      await insert({ at: old, status: "PENDING" }),
      await insert({ at: old, status: "WAITING" }),
      await insert({ at: old, fannedOut: false })
    ]
    const unpublished = await insertEventRow(at().pool, tenant, { at: old })
    await at().pool.query(
      `insert into outbox (tenant_id, event_id, resource_id, sequence)
       select tenant_id, id, resource_id, sequence from events where id = $1`,
      [unpublished]
    )
    await runOnce()
    assert.deepStrictEqual(await idsOf("deliveries", tenant), kept)
    const { rows } = await at().pool.query<{ id: string }>(
      "select event_id as id from deliveries where tenant_id = $1",
      [tenant]
    )
    assert.sameMembers(await idsOf("events", tenant), [...ownEvents, ...rows.map(({ id }) => id), unpublished])
    const { rows: feed } = await at().pool.query("select 1 from event_feed where tenant_id = $1", [tenant])
    assert.lengthOf(feed, kept.length + 1)
    await runOnce({ EVENT_RETENTION_DAYS: "28" })
    assert.deepStrictEqual(await idsOf("deliveries", tenant), kept.slice(1))
  })

  it("deletes many events in two concurrent runs", async () => {
    const { integration, ownEvents, tenant } = await createIntegratedTenant()
    await insertDelivery(at().pool, tenant, integration, { at: daysAgo(40) })
    await at().pool.query(
      `insert into events (tenant_id, id, type, resource_id, sequence, occurred_at, data)
       select $1, 'evt_many' || n, 'client.created', 'clnt_many', n, now() - interval '40 days', '{}'
       from generate_series(1, 2500) n`,
      [tenant]
    )
    await at().pool.query("delete from outbox where tenant_id = $1 and resource_id = 'clnt_many'", [tenant])
    await at().pool.query(
      `insert into event_feed (tenant_id, position, event_id, resource_id, sequence, fanned_out)
       select tenant_id, sequence, id, resource_id, sequence, true from events
       where tenant_id = $1 and resource_id = 'clnt_many'`,
      [tenant]
    )
    await Promise.all([runOnce(), runOnce()])
    assert.deepStrictEqual(await idsOf("events", tenant), ownEvents)
  })

  it("keeps an old event that is redelivered at the same time", async () => {
    const { integration, tenant } = await createIntegratedTenant()
    const id = await insertDelivery(at().pool, tenant, integration, { at: daysAgo(40) })
    const lock = await lockRow(at().pool, "select 1 from deliveries where id = $1 for update", id)
    const run = runOnce()
    await lock.untilWaiting(1)
    await lock.runInTransaction("update deliveries set status = 'PENDING' where id = $1", id)
    await lock.release()
    await run
    assert.deepStrictEqual(await idsOf("deliveries", tenant), [id])
  })

  it("clears old response bodies and errors of delivery attempts", async () => {
    const { integration, tenant } = await createIntegratedTenant()
    const insert = (days: number, attempts: number) =>
      insertDelivery(at().pool, tenant, integration, { at: daysAgo(days), attempts })
    const minutes = 10 / (24 * 60)
    const [old, recent, mixed] = [await insert(7 + minutes, 2500), await insert(7 - minutes, 2), await insert(8, 2)]
    await at().pool.query("update delivery_attempts set response_body = null where delivery_id = $1 and number = 7", [
      old
    ])
    await at().pool.query("update delivery_attempts set attempted_at = now() where delivery_id = $1 and number = 2", [
      mixed
    ])
    await runOnce()
    const { rows } = await at().pool.query(
      `select delivery_id as id, count(*)::int, count(response_body)::int as bodies, count(error)::int as errors,
         count(response_status)::int as statuses
       from delivery_attempts where tenant_id = $1 group by delivery_id order by delivery_id`,
      [tenant]
    )
    assert.deepStrictEqual(rows, [
      { id: old, count: 2500, bodies: 0, errors: 0, statuses: 2500 },
      { id: recent, count: 2, bodies: 2, errors: 2, statuses: 2 },
      { id: mixed, count: 2, bodies: 1, errors: 1, statuses: 2 }
    ])
  })

  it("deletes expired integration secrets and no others", async () => {
    const { integration, tenant } = await createIntegratedTenant()
    await at().pool.query(
      `insert into integration_secrets (tenant_id, integration_id, generation, sealed, expires_at) values
       ($1, $2, 2, '', now() - interval '1 second'), ($1, $2, 3, '', now() + interval '1 hour'), ($1, $2, 4, '', null)`,
      [tenant, integration]
    )
    await runOnce()
    const { rows } = await at().pool.query(
      "select generation from integration_secrets where tenant_id = $1 order by generation",
      [tenant]
    )
    assert.deepStrictEqual(
      rows.map(({ generation }) => generation),
      [1, 3, 4]
    )
  })

  it("deletes expired idempotency keys and no others", async () => {
    const tenant = await createTenantWithRows()
    await at().pool.query(
      `insert into idempotency_keys (tenant_id, issuer, subject, route, key, fingerprint, claimed_at)
       select $1, 'i', 's', 'r', n::text, '', now() - interval '25 hours' from generate_series(1, 2500) n`,
      [tenant]
    )
    await runOnce()
    const { rows } = await at().pool.query("select key from idempotency_keys where tenant_id = $1", [tenant])
    assert.deepStrictEqual(
      rows.map(({ key }) => key),
      [tenant]
    )
  })
})
