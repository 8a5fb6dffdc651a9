import fs from "node:fs/promises"
import { syncBuiltinESMExports } from "node:module"
import { Cause, Effect, Exit } from "effect"
import { assert, beforeAll, describe, it, vi } from "vitest"
import { isMigrated, migrate, migrations } from "../../../../src/layers/infra/postgres/Migrations.ts"
import { parseMigration } from "../../../../src/layers/infra/postgres/migration/Migration.ts"
import { applyMigrations } from "../../../../src/layers/infra/postgres/migration/MigrationRunner.ts"
import { useFixture } from "../../../support/fixtures/useFixture.ts"
import { freshDatabase, openPool } from "../../../support/servers/database.ts"
import { testLayers } from "../../../support/servers/layers.ts"

const startDatabase = async () => {
  const database = await freshDatabase()
  const pool = openPool(database.url)
  const stop = async () => {
    await pool.end()
    await database.drop()
  }
  return { url: database.url, pool, stop }
}

describe("Migrations", () => {
  const at = useFixture(startDatabase)
  let pool: ReturnType<typeof openPool>
  beforeAll(() => {
    pool = at().pool
  })

  /** Applies migrations with connections of its own, as another process does. */
  const apply = (...files: ReadonlyArray<readonly [string, string]>) =>
    Effect.runPromiseExit(
      Effect.provide(applyMigrations(files.map(([file, text]) => parseMigration(file, text))), testLayers(at().url))
    )
  const resultOf = (exit: Awaited<ReturnType<typeof apply>>) =>
    Exit.isSuccess(exit) ? exit.value.map(({ name }) => name) : String(Cause.squash(exit.cause))
  const isReady = () => Effect.runPromise(Effect.provide(isMigrated, testLayers(at().url)))
  const readRecorded = async (...ids: ReadonlyArray<number>) =>
    (await pool.query("select name from migrations where migration_id = any ($1) order by 1", [ids])).rows.map(
      ({ name }) => name
    )
  const findWaiting = (pattern: string) => async () =>
    (
      await pool.query(
        "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query ~ $1",
        [pattern]
      )
    ).rows.map(({ pid }) => Number(pid))
  const lockWith = async (statement: string) => {
    const client = await pool.connect()
    await client.query(`begin; ${statement}`)
    return async () => {
      await client.query("commit")
      client.release()
    }
  }

  it("are applied once by concurrent processes on an empty database", async () => {
    const migrateOnce = () => Effect.runPromise(Effect.provide(migrate, testLayers(at().url)))
    const applied = await Promise.all(Array.from({ length: 6 }, migrateOnce))
    assert.lengthOf(
      applied.filter((names) => names.length > 0),
      1
    )
    assert.isTrue(await isReady())
    assert.deepStrictEqual(await migrateOnce(), [])
  })

  it("backfill the event types of the feed", async () => {
    await pool.query(
      "insert into tenants (id, name, created_at, updated_at, sequence) values ('tnt_a', '', now(), now(), 1)"
    )
    await pool.query(`insert into events (tenant_id, id, type, resource_id, sequence, occurred_at, data)
      select 'tnt_a', n, 'client.' || n % 3, 'clnt_a', n, now(), '{}' from generate_series(1, 6000) n`)
    await pool.query(`insert into event_feed (tenant_id, position, event_id, resource_id, sequence)
      select tenant_id, sequence, id, resource_id, sequence from events`)
    await pool.query("update event_feed set type = null where position <> 5500")
    await pool.query("delete from migrations where name = 'event_feed_by_type'")
    await Effect.runPromise(Effect.provide(migrate, testLayers(at().url)))
    const { rows } = await pool.query(`select count(*)::int as same from event_feed
      join events on events.id = event_feed.event_id and events.type = event_feed.type`)
    assert.deepStrictEqual(rows, [{ same: 6000 }])
  })

  it("have unique numbers and valid names", async () => {
    const all = await Effect.runPromise(migrations)
    assert.strictEqual(new Set(all.map(({ id }) => id)).size, all.length)
    assert.throws(() => parseMigration("draft.sql", ""), "is not named like")
  })

  it("are read from disk once for repeated readiness checks", async () => {
    await isReady()
    const spies = [vi.spyOn(fs, "readFile"), vi.spyOn(fs, "readdir")]
    syncBuiltinESMExports()
    try {
      assert.isTrue(await isReady())
      for (const spy of spies) assert.lengthOf(spy.mock.calls, 0)
    } finally {
      vi.restoreAllMocks()
      syncBuiltinESMExports()
    }
  })

  it("report a database of a later release as ready, and one with a missing migration as not ready", async () => {
    await pool.query("insert into migrations (migration_id, name) values (5000, 'later')")
    assert.isTrue(await isReady())
    await pool.query("delete from migrations where migration_id = 3")
    assert.isFalse(await isReady())
    await pool.query("delete from migrations where migration_id = 5000")
    await pool.query("insert into migrations (migration_id, name) values (3, 'invoicing')")
  })

  it("are applied after a migration with a higher number", async () => {
    const later = ["6002_later.sql", "create table later ()"] as const
    assert.deepStrictEqual(resultOf(await apply(later)), ["later"])
    assert.deepStrictEqual(resultOf(await apply(["6001_earlier.sql", "create table earlier ()"], later)), ["earlier"])
    assert.deepStrictEqual(await readRecorded(6001, 6002), ["earlier", "later"])
  })

  it("are rejected if another migration has the same number", async () => {
    await apply(["6010_one.sql", "create table one ()"])
    assert.include(resultOf(await apply(["6010_two.sql", "create table two ()"])), "6010_one.sql has this number")
  })

  it("keep the migrations before a failing one and roll the failing one back", async () => {
    const failed = await apply(
      ["6020_good.sql", "create table good ()"],
      ["6021_bad.sql", "create table bad (); select 1 / 0"],
      ["6022_after.sql", "create table after ()"]
    )
    assert.include(resultOf(failed), "6021_bad.sql cannot be applied: division by zero")
    assert.deepStrictEqual(await readRecorded(6020, 6021, 6022), ["good"])
    const { rows } = await pool.query("select to_regclass('good') is null as good, to_regclass('bad') is null as bad")
    assert.deepStrictEqual(rows, [{ good: false, bad: true }])
  })

  it("let queries pass while the table is locked, and alter it afterwards", { timeout: 60_000 }, async () => {
    await pool.query("create table busy (id int)")
    const release = await lockWith("select * from busy")
    const migrated = apply(["6030_busy.sql", "alter table busy add column name text"])
    const waiting = findWaiting("table busy")
    for (const _ of [1, 2]) {
      await vi.waitUntil(async () => (await waiting()).length > 0, { timeout: 60_000, interval: 5 })
      // Queued behind the migration, this ends only if the migration gives up its place before the lock is released.
      await pool.query("select * from busy")
      await vi.waitUntil(async () => (await waiting()).length === 0, { timeout: 60_000, interval: 5 })
    }
    await release()
    assert.deepStrictEqual(resultOf(await migrated), ["busy"])
  })

  it("wait longer for one table every few attempts, so that autovacuum yields, and hold no other meanwhile", {
    timeout: 60_000
  }, async () => {
    await pool.query("create table parent (id int); create table child (id int)")
    const release = await lockWith("insert into child values (1)")
    const migrated = apply(["6035_both.sql", "alter table parent add name text; alter table child add name text;"])
    await vi.waitUntil(
      async () =>
        (
          await pool.query(
            `select from pg_stat_activity where query ilike '%lock table child%' and wait_event_type = 'Lock'
               and query_start < clock_timestamp() - interval '300 ms' and pid <> pg_backend_pid()`
          )
        ).rowCount === 1,
      { timeout: 60_000, interval: 5 }
    )
    await pool.query("begin; set local lock_timeout = 100; select * from parent; commit")
    await release()
    assert.deepStrictEqual(resultOf(await migrated), ["both"])
  })

  it("wait first for the table that could not be had, and hold none meanwhile that its owner needs next", {
    timeout: 60_000
  }, async () => {
    await pool.query("create table invoiced (id int); create table booked (id int)")
    const writer = await pool.connect()
    await writer.query("begin; insert into booked values (1)")
    const text = "alter table invoiced add name text; alter table booked add name text"
    const migrated = apply(["6036_order.sql", text])
    const waiting = findWaiting("lock table booked")
    await vi.waitUntil(async () => (await waiting()).length > 0, { timeout: 60_000, interval: 5 })
    await vi.waitUntil(async () => (await waiting()).length === 0, { timeout: 60_000, interval: 5 })
    await vi.waitUntil(async () => (await waiting()).length > 0, { timeout: 60_000, interval: 5 })
    await writer.query("set local lock_timeout = 50; insert into invoiced values (1); commit")
    writer.release()
    assert.deepStrictEqual(resultOf(await migrated), ["order"])
  })

  const indexMigration = [
    "6040_index.sql",
    `-- no transaction
     -- Each; separately.
     create index concurrently if not exists items_by_name on items (name);
     create index concurrently if not exists items_by_id on items (id);`
  ] as const
  const readIndexes = async () =>
    (
      await pool.query(
        `select relname, indisvalid from pg_index join pg_class on oid = indexrelid
         where indrelid = 'items'::regclass order by 1`
      )
    ).rows.map(({ indisvalid, relname }) => `${relname} ${indisvalid ? "valid" : "invalid"}`)

  it("build an index during writes, and rebuild it after an interruption", { timeout: 60_000 }, async () => {
    await pool.query("create table items (id int, name text)")
    const release = await lockWith("insert into items values (1, 'one')")
    const interrupted = apply(indexMigration)
    const waiting = findWaiting("index concurrently")
    await vi.waitUntil(async () => (await waiting()).length > 0, { timeout: 60_000, interval: 5 })
    await pool.query("insert into items values (2, 'two')")
    assert.deepStrictEqual(await readIndexes(), ["items_by_name invalid"])
    await pool.query("select pg_terminate_backend($1, 5000)", [(await waiting())[0]])
    assert.isTrue(Exit.isFailure(await interrupted))
    await release()

    assert.deepStrictEqual(resultOf(await apply(indexMigration)), ["index"])
    assert.deepStrictEqual(await readIndexes(), ["items_by_id valid", "items_by_name valid"])
  })

  it("build an index once while other processes wait for the migration lock", { timeout: 60_000 }, async () => {
    await pool.query("create table copied (id int)")
    const release = await lockWith("insert into copied values (1)")
    const file = [
      "6050_copied.sql",
      "-- no transaction\ncreate index concurrently if not exists c on copied (id)"
    ] as const
    const processes = Array.from({ length: 4 }, () => apply(file))
    const waiting = findWaiting("index concurrently")
    await vi.waitUntil(async () => (await waiting()).length > 0, { timeout: 60_000, interval: 5 })
    await release()
    const applied = (await Promise.all(processes)).map(resultOf)
    assert.deepStrictEqual(applied.flat(), ["copied"])
  })
})
