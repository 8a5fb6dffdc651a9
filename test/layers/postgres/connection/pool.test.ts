import { Socket } from "node:net"
import { SqlClient } from "@effect/sql/SqlClient"
import { Effect, ManagedRuntime } from "effect"
import { afterEach, assert, describe, inject, it, vi } from "vitest"
import { testLayers } from "../../../support/servers/layers.ts"

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

  it("are kept alive while they are idle", async () => {
    const kept = vi.spyOn(Socket.prototype, "setKeepAlive")
    const runtime = start()
    await runtime.runPromise(backend)
    assert.deepStrictEqual(kept.mock.calls, [[true, 30_000]])
    await runtime.dispose()
  })
})
