import { Effect, Exit } from "effect"
import { assert, describe, it, vi } from "vitest"
import { parseMigration } from "../../../src/layers/infra/postgres/migration/Migration.ts"
import { applyMigrations } from "../../../src/layers/infra/postgres/migration/MigrationRunner.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { openPool } from "../../support/servers/database.ts"
import { testLayers } from "../../support/servers/layers.ts"
import { startService } from "../../support/servers/service.ts"

const callers = 12
const minLockAttempts = 3

/** Sends requests of all callers in a loop; the returned function stops it and returns the statuses. */
const sendInLoop = (send: (caller: number) => Promise<{ readonly status: number }>) => {
  let isStopped = false
  const statuses: Array<number> = []
  const loop = async (caller: number) => {
    while (!isStopped) statuses.push((await send(caller)).status)
  }
  const all = Promise.all(Array.from({ length: callers }, (_, caller) => loop(caller)))
  return async () => {
    isStopped = true
    await all
    return statuses
  }
}

describe("A migration of the next release", () => {
  const at = useFixture(() => startService({}))

  it("lets the running release serve all requests while it waits for the lock of a table", {
    timeout: 60_000
  }, async () => {
    const service = at()
    const tenant = await service.newTenant()
    const token = await service.token("owner")
    const pool = openPool(service.database.url)
    const reader = await pool.connect()
    await reader.query("begin")
    await reader.query("select count(*) from clients")
    const stopLoop = sendInLoop((caller) =>
      caller % 3 === 0
        ? service.api("POST", "/clients", { as: token, tenant, body: { name: "New" } })
        : service.api("GET", "/clients?limit=5", { as: token, tenant })
    )
    const isWaitingForLock = async () =>
      (
        await pool.query(
          `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
           and query ~ '^(alter|lock) table clients'`
        )
      ).rows.length > 0

    const next = [parseMigration("8000_next.sql", "alter table clients add column next text")]
    const migrated = Effect.runPromiseExit(Effect.provide(applyMigrations(next), testLayers(service.database.url)))
    for (let attempt = 0; attempt < minLockAttempts; attempt++) {
      await vi.waitUntil(isWaitingForLock, { timeout: 60_000, interval: 5 })
      await vi.waitUntil(async () => !(await isWaitingForLock()), { timeout: 60_000, interval: 5 })
    }
    await reader.query("commit")
    reader.release()
    assert.isTrue(Exit.isSuccess(await migrated))
    const statuses = await stopLoop()
    await pool.end()
    assert.deepStrictEqual([...new Set(statuses)].sort(), [200, 201])
    assert.isAbove(statuses.length, 100)
  })
})
