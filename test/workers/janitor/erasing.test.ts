import { assert, describe, it, vi } from "vitest"
import { batchSize } from "../../../src/layers/postgres/Batches.ts"
import { maxBatchesUnvacuumed } from "../../../src/layers/tenancy/Erasure.ts"
import { countDeletes } from "../../support/assertions/deleteCounts.ts"
import { insertDeliveredEvents } from "../../support/fixtures/deliveredRows.ts"
import { insertIntegration } from "../../support/fixtures/deliveryRows.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { runJanitorOnce } from "../../support/servers/janitor.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"
import { startWorker } from "../../support/servers/worker.ts"

describe("upkeep of much", { timeout: 60_000 }, () => {
  const at = useFixture(startServiceWithPool)
  const erase = () => runJanitorOnce(at().service, { TENANT_RETENTION_DAYS: "0", EVENT_RETENTION_DAYS: "100" })

  const tenantWith = async (count: number) => {
    const tenant = await at().service.newTenant()
    const integration = await insertIntegration(at().pool, tenant)
    await insertDeliveredEvents(at().pool, tenant, integration, count)
    return { tenant, integration }
  }
  const countOf = async (table: string, tenant: string) => {
    const { rows } = await at().pool.query<{ count: number }>(
      `select count(*)::int from ${table} where tenant_id = $1`,
      [tenant]
    )
    return rows[0]?.count ?? 0
  }
  const isThere = async (tenant: string) => {
    const { rows } = await at().pool.query("select 1 from tenants where id = $1", [tenant])
    return rows.length === 1
  }

  it("erases a tenant in transactions of a few hundred rows each", async () => {
    const { tenant } = await tenantWith(3 * batchSize)
    await at().service.api("DELETE", `/tenants/${tenant}`, { as: "owner" })
    const watched = ["events", "event_feed", "deliveries", "delivery_attempts"]
    const watch = await countDeletes(at().pool, ...watched)
    await erase()
    for (const table of watched) {
      const { count, max, sum } = await watch.noted(table)
      assert.isAtLeast(sum, 3 * batchSize, table)
      assert.isAtMost(max, batchSize, table)
      assert.isAtLeast(count, 3, table)
    }
    await watch.stop()
    assert.isFalse(await isThere(tenant))
  })

  /** How many rows each of the tenants has in each table. */
  const rowsOf = async (tenants: ReadonlyArray<string>) => {
    const { rows: tables } = await at().pool.query<{ name: string }>(
      `select table_name as name from information_schema.columns join information_schema.tables using (table_name)
       where column_name = 'tenant_id' and table_type = 'BASE TABLE' and tables.table_schema = current_schema()
       order by 1`
    )
    const counts: Array<readonly [table: string, tenant: string, count: number]> = []
    for (const { name } of tables)
      for (const tenant of tenants) counts.push([name, tenant, await countOf(name, tenant)])
    return counts.filter(([, , count]) => count > 0)
  }

  it("erases nothing of tenants that were made before and after", async () => {
    const before = await tenantWith(3)
    const { tenant } = await tenantWith(3)
    const after = await tenantWith(3)
    const neighbours = [before.tenant, after.tenant]
    await at().service.api("DELETE", `/tenants/${tenant}`, { as: "owner" })
    const had = await rowsOf(neighbours)
    assert.isAbove(had.length, 10)
    await erase()
    assert.isFalse(await isThere(tenant))
    assert.deepStrictEqual(await rowsOf(neighbours), had)
  })

  it("leaves nothing behind of a large tenant that others would come across", async () => {
    const { tenant } = await tenantWith((maxBatchesUnvacuumed + 1) * batchSize)
    await at().service.api("DELETE", `/tenants/${tenant}`, { as: "owner" })
    await erase()
    await vi.waitFor(async () => {
      const { rows } = await at().pool.query<{ relname: string }>(
        "select relname from pg_stat_user_tables where vacuum_count > 0"
      )
      assert.includeMembers(
        rows.map(({ relname }) => relname),
        ["events", "event_feed", "deliveries", "delivery_attempts"]
      )
    })
  })

  it("keeps what it has erased of a tenant when it fails in between, and goes on from there", async () => {
    const { tenant } = await tenantWith(10)
    await at().service.api("DELETE", `/tenants/${tenant}`, { as: "owner" })
    await at().pool.query(`
      create function refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
      create trigger refuse before delete on members for each row execute function refuse()`)
    let isRefused = false
    await erase().catch(() => {
      isRefused = true
    })
    assert.isTrue(isRefused)
    assert.isTrue(await isThere(tenant))
    assert.strictEqual(await countOf("deliveries", tenant), 0)
    assert.isAbove(await countOf("members", tenant), 0)
    await at().pool.query("drop trigger refuse on members; drop function refuse")
    await erase()
    assert.isFalse(await isThere(tenant))
  })

  it("erases what is added to a tenant while it is erased", async () => {
    const { tenant } = await tenantWith(1)
    await at().service.api("DELETE", `/tenants/${tenant}`, { as: "owner" })
    await at().pool.query(`
      create function add_late() returns trigger language plpgsql as $$ begin
        insert into events (tenant_id, id, type, resource_id, sequence, occurred_at, data)
        values (old.tenant_id, 'evt_late', 'client.created', 'clnt_late', 1, now(), '{}');
        return old;
      end $$;
      create trigger add_late before delete on members for each row execute function add_late()`)
    await erase()
    await at().pool.query("drop trigger add_late on members; drop function add_late")
    assert.isFalse(await isThere(tenant))
    assert.deepStrictEqual([await countOf("events", tenant), await countOf("outbox", tenant)], [0, 0])
  })

  it("goes on with every other kind while one cannot be done", async () => {
    const { integration, tenant } = await tenantWith(1)
    await at().pool.query(
      `insert into integration_secrets (tenant_id, integration_id, generation, sealed, expires_at)
       values ($1, $2, 2, '', now() - interval '1 second')`,
      [tenant, integration]
    )
    const locker = await at().pool.connect()
    await locker.query("begin; lock table idempotency_keys in access exclusive mode")
    const janitor = await startWorker(at().service, "janitor")
    await vi.waitUntil(async () => (await countOf("integration_secrets", tenant)) === 1, { timeout: 20_000 })
    await locker.query("rollback")
    locker.release()
    await janitor.stop()
  })
})
