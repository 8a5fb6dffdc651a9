import fs from "node:fs/promises"
import { syncBuiltinESMExports } from "node:module"
import { Cause, Effect, Exit } from "effect"
import { assert, beforeAll, describe, it, vi } from "vitest"
import { isMigrated, migrate, migrations } from "../../../src/layers/postgres/Migrations.ts"
import { parseMigration } from "../../../src/layers/postgres/migration/Migration.ts"
import { applyMigrations } from "../../../src/layers/postgres/migration/MigrationRunner.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { freshDatabase, openPool } from "../../support/servers/database.ts"
import { testLayers } from "../../support/servers/layers.ts"

const startOnDatabase = async () => {
  const database = await freshDatabase()
  const pool = openPool(database.url)
  const stop = async () => {
    await pool.end()
    await database.drop()
  }
  return { url: database.url, pool, stop }
}

describe("migrations", () => {
  const at = useFixture(startOnDatabase)
  let pool: ReturnType<typeof openPool>
  beforeAll(() => {
    pool = at().pool
  })

  /** Each with connections of its own, as each process has. */
  const run = (...files: ReadonlyArray<readonly [string, string]>) =>
    Effect.runPromiseExit(
      Effect.provide(applyMigrations(files.map(([file, text]) => parseMigration(file, text))), testLayers(at().url))
    )
  const namesOf = (exit: Awaited<ReturnType<typeof run>>) =>
    Exit.isSuccess(exit) ? exit.value.map(({ name }) => name) : String(Cause.squash(exit.cause))
  const ready = () => Effect.runPromise(Effect.provide(isMigrated, testLayers(at().url)))
  const recorded = async (...ids: ReadonlyArray<number>) =>
    (await pool.query("select name from migrations where migration_id = any ($1) order by 1", [ids])).rows.map(
      ({ name }) => name
    )
  const isWaiting = (event: string) => async () =>
    (
      await pool.query(
        "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query ~ $1",
        [event]
      )
    ).rows.map(({ pid }) => Number(pid))
  const hold = async (statement: string) => {
    const client = await pool.connect()
    await client.query(`begin; ${statement}`)
    return async () => {
      await client.query("commit")
      client.release()
    }
  }

  it("run once however many copies start together on an empty database", async () => {
    const copy = () => Effect.runPromise(Effect.provide(migrate, testLayers(at().url)))
    const applied = await Promise.all(Array.from({ length: 6 }, copy))
    assert.lengthOf(
      applied.filter((names) => names.length > 0),
      1
    )
    assert.isTrue(await ready())
    assert.deepStrictEqual(await copy(), [])
  })

  it("tell the types of all events that were placed before the feed had types", async () => {
    await pool.query(
      "insert into tenants (id, name, created_at, updated_at, sequence) values ('tnt_a', '', now(), now(), 1)"
    )
    await pool.query(`insert into events (tenant_id, id, type, resource_id, sequence, occurred_at, data)
      select 'tnt_a', n, 'client.' || n % 3, 'clnt_a', n, now(), '{}' from generate_series(1, 11000) n`)
    await pool.query(`insert into event_feed (tenant_id, position, event_id, resource_id, sequence)
      select tenant_id, sequence, id, resource_id, sequence from events`)
    await pool.query("update event_feed set type = null where position <> 7000")
    await pool.query("delete from migrations where name = 'event_feed_by_type'")
    await Effect.runPromise(Effect.provide(migrate, testLayers(at().url)))
    const { rows } = await pool.query(`select count(*)::int as same from event_feed
      join events on events.id = event_feed.event_id and events.type = event_feed.type`)
    assert.deepStrictEqual(rows, [{ same: 11_000 }])
  })

  it("have numbers and names of their own", async () => {
    const all = await Effect.runPromise(migrations)
    assert.strictEqual(new Set(all.map(({ id }) => id)).size, all.length)
    assert.throws(() => parseMigration("draft.sql", ""), "is not named like")
  })

  it("are read once however often somebody asks whether the database has seen them", async () => {
    await ready()
    const spied = [vi.spyOn(fs, "readFile"), vi.spyOn(fs, "readdir")]
    syncBuiltinESMExports()
    try {
      assert.isTrue(await ready())
      for (const spy of spied) assert.lengthOf(spy.mock.calls, 0)
    } finally {
      vi.restoreAllMocks()
      syncBuiltinESMExports()
    }
  })

  it("leave a database ready that a later release has migrated, and not one that lacks a file of this release", async () => {
    await pool.query("insert into migrations (migration_id, name) values (5000, 'later')")
    assert.isTrue(await ready())
    await pool.query("delete from migrations where migration_id = 3")
    assert.isFalse(await ready())
    await pool.query("delete from migrations where migration_id = 5000")
    await pool.query("insert into migrations (migration_id, name) values (3, 'invoicing')")
  })

  it("run although a file with a higher number has run before", async () => {
    const later = ["6002_later.sql", "create table later ()"] as const
    assert.deepStrictEqual(namesOf(await run(later)), ["later"])
    assert.deepStrictEqual(namesOf(await run(["6001_earlier.sql", "create table earlier ()"], later)), ["earlier"])
    assert.deepStrictEqual(await recorded(6001, 6002), ["earlier", "later"])
  })

  it("are refused when another file had their number", async () => {
    await run(["6010_one.sql", "create table one ()"])
    assert.include(namesOf(await run(["6010_two.sql", "create table two ()"])), "6010_one.sql has this number")
  })

  it("keep the files before the one that fails, and nothing of that one", async () => {
    const failed = await run(
      ["6020_good.sql", "create table good ()"],
      ["6021_bad.sql", "create table bad (); select 1 / 0"],
      ["6022_after.sql", "create table after ()"]
    )
    assert.include(namesOf(failed), "6021_bad.sql cannot be applied: division by zero")
    assert.deepStrictEqual(await recorded(6020, 6021, 6022), ["good"])
    const { rows } = await pool.query("select to_regclass('good') is null as good, to_regclass('bad') is null as bad")
    assert.deepStrictEqual(rows, [{ good: false, bad: true }])
  })

  it("give way to requests while somebody has the table, and change it afterwards", { timeout: 30_000 }, async () => {
    await pool.query("create table busy (id int)")
    const release = await hold("select * from busy")
    const migrated = run(["6030_busy.sql", "alter table busy add column name text"])
    const waiting = isWaiting("alter table busy")
    const reads: Array<number> = []
    for (const _ of [1, 2]) {
      await vi.waitUntil(async () => (await waiting()).length > 0, { timeout: 10_000, interval: 5 })
      const started = performance.now()
      await pool.query("select * from busy")
      reads.push(performance.now() - started)
      await vi.waitUntil(async () => (await waiting()).length === 0, { timeout: 10_000, interval: 5 })
    }
    await release()
    assert.deepStrictEqual(namesOf(await migrated), ["busy"])
    for (const read of reads)
      assert.isBelow(read, 1500, "a reader behind the migration waits for less than its timeout")
  })

  it("wait longer for a table in use every few attempts, so that autovacuum steps aside", {
    timeout: 30_000
  }, async () => {
    // As if somebody had the table who gives it up to none but who has waited for a second.
    await pool.query("create sequence attempts")
    const text = `do $$ begin
      if nextval('attempts') > 8 then raise 'no attempt waited'; end if;
      if current_setting('lock_timeout') <> '1200ms' then raise exception using errcode = '55P03'; end if;
    end $$`
    assert.deepStrictEqual(namesOf(await run(["6035_patient.sql", text])), ["patient"])
  })

  const indexing = [
    "6040_index.sql",
    `-- no transaction
     -- Each; on its own.
     create index concurrently if not exists items_by_name on items (name);
     create index concurrently if not exists items_by_id on items (id);`
  ] as const
  const indexes = async () =>
    (
      await pool.query(
        `select relname, indisvalid from pg_index join pg_class on oid = indexrelid
         where indrelid = 'items'::regclass order by 1`
      )
    ).rows.map(({ indisvalid, relname }) => `${relname} ${indisvalid ? "valid" : "invalid"}`)

  it("build an index beside writers, and again after it was interrupted half way", { timeout: 30_000 }, async () => {
    await pool.query("create table items (id int, name text)")
    const release = await hold("insert into items values (1, 'one')")
    const interrupted = run(indexing)
    const waiting = isWaiting("index concurrently")
    await vi.waitUntil(async () => (await waiting()).length > 0, { timeout: 10_000, interval: 5 })
    await pool.query("insert into items values (2, 'two')")
    assert.deepStrictEqual(await indexes(), ["items_by_name invalid"])
    await pool.query("select pg_terminate_backend($1, 5000)", [(await waiting())[0]])
    assert.isTrue(Exit.isFailure(await interrupted))
    await release()

    assert.deepStrictEqual(namesOf(await run(indexing)), ["index"])
    assert.deepStrictEqual(await indexes(), ["items_by_id valid", "items_by_name valid"])
  })

  it("build an index while other copies wait for their turn", { timeout: 30_000 }, async () => {
    await pool.query("create table copied (id int)")
    const release = await hold("insert into copied values (1)")
    const file = [
      "6050_copied.sql",
      "-- no transaction\ncreate index concurrently if not exists c on copied (id)"
    ] as const
    const copies = Array.from({ length: 4 }, () => run(file))
    const waiting = isWaiting("index concurrently")
    await vi.waitUntil(async () => (await waiting()).length > 0, { timeout: 10_000, interval: 5 })
    await release()
    const applied = (await Promise.all(copies)).map(namesOf)
    assert.deepStrictEqual(applied.flat(), ["copied"])
  })
})
