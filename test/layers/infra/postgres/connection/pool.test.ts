import { Socket } from "node:net"
import { SqlClient } from "@effect/sql/SqlClient"
import { Effect, Exit, ManagedRuntime } from "effect"
import { afterEach, assert, describe, inject, it, vi } from "vitest"
import { openPool } from "../../../../support/servers/database.ts"
import { testLayers } from "../../../../support/servers/layers.ts"

const minute = 60_000

describe("the connections of the pool", () => {
  afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })

  const start = () => ManagedRuntime.make(testLayers(inject("databaseUrl"), { DATABASE_POOL: "1" }))
  const backend = Effect.flatMap(
    SqlClient,
    (sql) => sql<{ pid: number }>`select pg_backend_pid() as pid where ${1} = 1`
  )

  it("are replaced after half an hour, however well they work", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], shouldAdvanceTime: true })
    const runtime = start()
    const first = await runtime.runPromise(backend)
    vi.advanceTimersByTime(25 * minute)
    assert.deepStrictEqual(await runtime.runPromise(backend), first)
    vi.advanceTimersByTime(6 * minute)
    assert.notDeepEqual(await runtime.runPromise(backend), first)
    await runtime.dispose()
  })

  it("are given up with their transaction as soon as a statement does not end in time", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], shouldAdvanceTime: true })
    const runtime = start()
    const observer = openPool(inject("databaseUrl"))
    const [first] = await runtime.runPromise(backend)
    const stateOf = async () => {
      const { rows } = await observer.query("select state from pg_stat_activity where pid = $1", [first?.pid])
      return rows[0]?.state
    }
    const hanging = Effect.flatMap(SqlClient, (sql) => sql.withTransaction(sql`select pg_sleep(10) where ${1} = 1`))
    const exit = runtime.runPromiseExit(hanging)
    await vi.waitUntil(async () => (await stateOf()) === "active", { timeout: 5000, interval: 10 })
    vi.advanceTimersByTime(17_000)
    assert.isTrue(Exit.isFailure(await exit))
    assert.strictEqual(await stateOf(), "active")
    assert.notStrictEqual((await runtime.runPromise(backend))[0]?.pid, first?.pid)
    await observer.query("select pg_terminate_backend($1)", [first?.pid])
    await observer.end()
    await runtime.dispose()
  })

  it("are kept alive while they are idle", async () => {
    const kept = vi.spyOn(Socket.prototype, "setKeepAlive")
    const runtime = start()
    await runtime.runPromise(backend)
    assert.deepStrictEqual(kept.mock.calls, [[true, 30_000]])
    await runtime.dispose()
  })
})
