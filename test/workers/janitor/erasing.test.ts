import { assert, describe, it, vi } from "vitest"
import { maxBatchesUnvacuumed } from "../../../src/layers/erasure/Erasure.ts"
import { batchSize } from "../../../src/layers/infra/postgres/Batches.ts"
import { countDeletes } from "../../support/assertions/deleteCounts.ts"
import { insertDeliveredEvents } from "../../support/fixtures/deliveredRows.ts"
import { insertIntegration } from "../../support/fixtures/deliveryRows.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { runJanitorOnce } from "../../support/servers/janitor.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"
import { startWorker } from "../../support/servers/worker.ts"

describe("The janitor", { timeout: 180_000 }, () => {
  const at = useFixture(() => startServiceWithPool({}))
  const erase = () => runJanitorOnce(at().service, { TENANT_RETENTION_DAYS: "0", EVENT_RETENTION_DAYS: "100" })

  const createTenant = async (count: number) => {
    const tenant = await at().service.newTenant()
    const integration = await insertIntegration(at().pool, tenant)
    await insertDeliveredEvents(at().pool, tenant, integration, count)
    return { tenant, integration }
  }
  const countRowsOf = async (table: string, tenant: string) => {
    const { rows } = await at().pool.query<{ count: number }>(
      `select count(*)::int from ${table} where tenant_id = $1`,
      [tenant]
    )
    return rows[0]?.count ?? 0
  }
  const exists = async (tenant: string) => {
    const { rows } = await at().pool.query("select 1 from tenants where id = $1", [tenant])
    return rows.length === 1
  }

  it("erases a tenant in transactions of at most one batch each", async () => {
    const { tenant } = await createTenant(3 * batchSize)
    await at().service.api("DELETE", `/tenants/${tenant}`, { as: "owner" })
    const watchedTables = ["events", "event_feed", "deliveries", "delivery_attempts"]
    const watch = await countDeletes(at().pool, ...watchedTables)
    await erase()
    for (const table of watchedTables) {
      const { count, max, sum } = await watch.noted(table)
      assert.isAtLeast(sum, 3 * batchSize, table)
      assert.isAtMost(max, batchSize, table)
      assert.isAtLeast(count, 3, table)
    }
    await watch.stop()
    assert.isFalse(await exists(tenant))
  })

  /** The number of rows of each tenant in each table, without zeros. */
  const countRows = async (tenants: ReadonlyArray<string>) => {
    const { rows: tables } = await at().pool.query<{ name: string }>(
      `select table_name as name from information_schema.columns join information_schema.tables using (table_name)
       where column_name = 'tenant_id' and table_type = 'BASE TABLE' and tables.table_schema = current_schema()
       order by 1`
    )
    const counts: Array<readonly [table: string, tenant: string, count: number]> = []
    for (const { name } of tables)
      for (const tenant of tenants) counts.push([name, tenant, await countRowsOf(name, tenant)])
    return counts.filter(([, , count]) => count > 0)
  }

  it("erases no row of tenants that were created before and after the erased tenant", async () => {
    const before = await createTenant(3)
    const { tenant } = await createTenant(3)
    const after = await createTenant(3)
    const neighbours = [before.tenant, after.tenant]
    await at().service.api("DELETE", `/tenants/${tenant}`, { as: "owner" })
    const countsBefore = await countRows(neighbours)
    assert.isAbove(countsBefore.length, 10)
    await erase()
    assert.isFalse(await exists(tenant))
    assert.deepStrictEqual(await countRows(neighbours), countsBefore)
  })

  it("vacuums the tables after it erases a large tenant", async () => {
    const tables = ["events", "event_feed", "deliveries", "delivery_attempts"]
    // The janitor skips a table that autovacuum has locked.
    for (const table of tables) await at().pool.query(`alter table ${table} set (autovacuum_enabled = false)`)
    const { tenant } = await createTenant(maxBatchesUnvacuumed * batchSize)
    await at().service.api("DELETE", `/tenants/${tenant}`, { as: "owner" })
    await erase()
    await vi.waitFor(async () => {
      const { rows } = await at().pool.query<{ relname: string }>(
        "select relname from pg_stat_user_tables where vacuum_count > 0"
      )
      assert.includeMembers(
        rows.map(({ relname }) => relname),
        tables
      )
    }, 20_000)
  })

  it("keeps the progress of an erasure that fails, and completes the erasure in the next run", async () => {
    const { tenant } = await createTenant(10)
    await at().service.api("DELETE", `/tenants/${tenant}`, { as: "owner" })
    await at().pool.query(`
      create function refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
      create trigger refuse before delete on members for each row execute function refuse()`)
    let hasFailed = false
    await erase().catch(() => {
      hasFailed = true
    })
    assert.isTrue(hasFailed)
    assert.isTrue(await exists(tenant))
    assert.strictEqual(await countRowsOf("deliveries", tenant), 0)
    assert.isAbove(await countRowsOf("members", tenant), 0)
    await at().pool.query("drop trigger refuse on members; drop function refuse")
    await erase()
    assert.isFalse(await exists(tenant))
  })

  it("erases rows that are added to a tenant during the erasure", async () => {
    const { tenant } = await createTenant(1)
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
    assert.isFalse(await exists(tenant))
    assert.deepStrictEqual([await countRowsOf("events", tenant), await countRowsOf("outbox", tenant)], [0, 0])
  })

  it("runs every other cleanup task while one waits for a lock", async () => {
    const { integration, tenant } = await createTenant(1)
    await at().pool.query(
      `insert into integration_secrets (tenant_id, integration_id, generation, sealed, expires_at)
       values ($1, $2, 2, '', now() - interval '1 second')`,
      [tenant, integration]
    )
    const locker = await at().pool.connect()
    await locker.query("begin; lock table idempotency_keys in access exclusive mode")
    const janitor = await startWorker(at().service, "janitor")
    await vi.waitUntil(async () => (await countRowsOf("integration_secrets", tenant)) === 1, { timeout: 60_000 })
    await locker.query("rollback")
    locker.release()
    await janitor.stop()
  })
})
