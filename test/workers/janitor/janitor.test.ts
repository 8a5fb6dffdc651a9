import { assert, describe, it } from "vitest"
import { insertDelivery, insertEventRow, insertIntegration } from "../../support/fixtures/deliveryRows.ts"
import { lockRow } from "../../support/fixtures/rowLock.ts"
import { makeTenantFixture } from "../../support/fixtures/tenantFixture.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { runJanitorOnce } from "../../support/servers/janitor.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

describe("the janitor", () => {
  const at = useFixture(startServiceWithPool)

  const round = (environment: Readonly<Record<string, string>> = {}) => runJanitorOnce(at().service, environment)

  const filledTenant = async () => {
    const tenant = await at().service.newTenant()
    const options = { as: "owner", tenant, headers: { "idempotency-key": tenant } }
    await at().service.api("POST", "/clients", { ...options, body: { name: "C" } })
    return tenant
  }
  /** How many rows of any table mention the tenant, whatever the column. */
  const rowsOf = async (tenant: string) => {
    const { rows } = await at().pool.query(
      "select table_name from information_schema.tables where table_schema = 'public'"
    )
    const counts = rows.map(
      ({ table_name }) => `select count(*)::int as n from ${table_name} t where strpos(t::text, $1) > 0`
    )
    const { rows: found } = await at().pool.query(counts.join(" union all "), [tenant])
    return found.reduce((sum: number, { n }: { n: number }) => sum + n, 0)
  }

  it("erases a deleted tenant whole, and only when its time has come", async () => {
    const [kept, deleted] = [await filledTenant(), await filledTenant()]
    await at().service.api("DELETE", `/tenants/${deleted}`, { as: "owner" })
    const before = await rowsOf(deleted)
    assert.isAbove(before, 4)
    await round({ TENANT_RETENTION_DAYS: "1" })
    assert.strictEqual(await rowsOf(deleted), before)
    await at().pool.query("update tenants set deleted_at = now() - interval '25 hours' where id = $1", [deleted])
    const keptBefore = await rowsOf(kept)
    await Promise.all([round({ TENANT_RETENTION_DAYS: "1" }), round({ TENANT_RETENTION_DAYS: "1" })])
    assert.strictEqual(await rowsOf(deleted), 0)
    assert.strictEqual(await rowsOf(kept), keptBefore)
  })

  /** Every table that holds something of tenants, with how many rows of this one are in it. */
  const ownedBy = async (tenant: string) => {
    const { rows: tables } = await at().pool.query<{ name: string }>(
      `select table_name as name from information_schema.columns join information_schema.tables using (table_name)
       where columns.table_schema = 'public' and column_name = 'tenant_id' and table_type = 'BASE TABLE'`
    )
    const counts = tables.map(({ name }) => `select '${name}' as name, count(*)::int from ${name} where tenant_id = $1`)
    const { rows } = await at().pool.query<{ name: string; count: number }>(counts.join(" union all "), [tenant])
    return new Map(rows.map(({ count, name }) => [name, count]))
  }

  it("erases what a tenant has in any of the tables of delivery, and nothing of another", async () => {
    const [kept, deleted] = [
      await makeTenantFixture(at().service, "owner"),
      await makeTenantFixture(at().service, "owner")
    ]
    const before = await ownedBy(deleted.tenant)
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
    const keptBefore = await ownedBy(kept.tenant)
    await at().service.api("DELETE", `/tenants/${deleted.tenant}`, { as: "owner" })
    await round({ TENANT_RETENTION_DAYS: "0" })
    assert.deepStrictEqual(new Set((await ownedBy(deleted.tenant)).values()), new Set([0]))
    assert.strictEqual(await rowsOf(deleted.tenant), 0)
    assert.deepStrictEqual(await ownedBy(kept.tenant), keptBefore)
  })

  const daysAgo = (days: number) => new Date(Date.now() - days * 24 * 60 * 60 * 1000).toISOString()
  const idsOf = async (table: string, tenant: string) => {
    const { rows } = await at().pool.query<{ id: string }>(`select id from ${table} where tenant_id = $1 order by id`, [
      tenant
    ])
    return rows.map(({ id }) => id)
  }
  const integrated = async () => {
    const tenant = await at().service.newTenant()
    return { tenant, integration: await insertIntegration(at().pool, tenant), own: await idsOf("events", tenant) }
  }

  it("forgets old events that everyone was told of, with all that hangs on them, and no other", async () => {
    const { integration, own, tenant } = await integrated()
    const old = daysAgo(31)
    const plant = (delivery: Parameters<typeof insertDelivery>[3]) =>
      insertDelivery(at().pool, tenant, integration, delivery)
    for (const status of ["DELIVERED", "EXHAUSTED"] as const) await plant({ at: old, status })
    await insertEventRow(at().pool, tenant, { at: old })
    const kept = [
      await plant({ at: daysAgo(29) }),
      await plant({ at: old, status: "PENDING" }),
      await plant({ at: old, status: "WAITING" }),
      await plant({ at: old, fannedOut: false })
    ]
    const unseen = await insertEventRow(at().pool, tenant, { at: old })
    await at().pool.query(
      `insert into outbox (tenant_id, event_id, resource_id, sequence)
       select tenant_id, id, resource_id, sequence from events where id = $1`,
      [unseen]
    )
    await round()
    assert.deepStrictEqual(await idsOf("deliveries", tenant), kept)
    const { rows } = await at().pool.query<{ id: string }>(
      "select event_id as id from deliveries where tenant_id = $1",
      [tenant]
    )
    assert.sameMembers(await idsOf("events", tenant), [...own, ...rows.map(({ id }) => id), unseen])
    const { rows: feed } = await at().pool.query("select 1 from event_feed where tenant_id = $1", [tenant])
    assert.lengthOf(feed, kept.length + 1)
    await round({ EVENT_RETENTION_DAYS: "28" })
    assert.deepStrictEqual(await idsOf("deliveries", tenant), kept.slice(1))
  })

  it("forgets many events, in several copies", async () => {
    const { integration, own, tenant } = await integrated()
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
    await Promise.all([round(), round()])
    assert.deepStrictEqual(await idsOf("events", tenant), own)
  })

  it("leaves an old event that is sent again at that very moment", async () => {
    const { integration, tenant } = await integrated()
    const id = await insertDelivery(at().pool, tenant, integration, { at: daysAgo(40) })
    const held = await lockRow(at().pool, "select 1 from deliveries where id = $1 for update", id)
    const rounds = round()
    await held.until(1)
    await held.meanwhile("update deliveries set status = 'PENDING' where id = $1", id)
    await held.release()
    await rounds
    assert.deepStrictEqual(await idsOf("deliveries", tenant), [id])
  })

  it("takes away what receivers answered, once it is old", async () => {
    const { integration, tenant } = await integrated()
    const plant = (days: number, attempts: number) =>
      insertDelivery(at().pool, tenant, integration, { at: daysAgo(days), attempts })
    const [old, recent] = [await plant(8, 2500), await plant(6, 2)]
    await round()
    const { rows } = await at().pool.query(
      `select delivery_id as id, count(*)::int, count(response_body)::int as bodies, count(error)::int as errors,
         count(response_status)::int as statuses
       from delivery_attempts where tenant_id = $1 group by delivery_id order by delivery_id`,
      [tenant]
    )
    assert.deepStrictEqual(rows, [
      { id: old, count: 2500, bodies: 0, errors: 0, statuses: 2500 },
      { id: recent, count: 2, bodies: 2, errors: 2, statuses: 2 }
    ])
  })

  it("forgets secrets that have expired and no other", async () => {
    const { integration, tenant } = await integrated()
    await at().pool.query(
      `insert into integration_secrets (tenant_id, integration_id, generation, sealed, expires_at) values
       ($1, $2, 2, '', now() - interval '1 second'), ($1, $2, 3, '', now() + interval '1 hour'), ($1, $2, 4, '', null)`,
      [tenant, integration]
    )
    await round()
    const { rows } = await at().pool.query(
      "select generation from integration_secrets where tenant_id = $1 order by generation",
      [tenant]
    )
    assert.deepStrictEqual(
      rows.map(({ generation }) => generation),
      [1, 3, 4]
    )
  })

  it("forgets idempotency keys past their life and no other", async () => {
    const tenant = await filledTenant()
    await at().pool.query(
      `insert into idempotency_keys (tenant_id, issuer, subject, route, key, fingerprint, claimed_at)
       select $1, 'i', 's', 'r', n::text, '', now() - interval '25 hours' from generate_series(1, 2500) n`,
      [tenant]
    )
    await round()
    const { rows } = await at().pool.query("select key from idempotency_keys where tenant_id = $1", [tenant])
    assert.deepStrictEqual(
      rows.map(({ key }) => key),
      [tenant]
    )
  })
})
