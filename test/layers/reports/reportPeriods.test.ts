import { Effect, Either, Fiber, ManagedRuntime } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { Unavailable } from "../../../src/domain/Errors.ts"
import { ReportPeriods } from "../../../src/layers/reports/ReportPeriods.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { migratedDatabase, openPool } from "../../support/servers/database.ts"
import { testLayers } from "../../support/servers/layers.ts"

const start = async () => {
  const database = await migratedDatabase()
  const pool = openPool(database.url)
  const stop = async () => {
    await pool.end()
    await database.drop()
  }
  return { database, pool, stop }
}

describe("A report of a period that has just ended", () => {
  const at = useFixture(start)
  const makeRuntime = () => ManagedRuntime.make(testLayers(at().database.url))
  let runtime: ReturnType<typeof makeRuntime>
  beforeAll(() => {
    runtime = makeRuntime()
  })
  afterAll(() => runtime.dispose())

  const waitFor = (end: string) =>
    ReportPeriods.pipe(
      Effect.flatMap(({ waitForWriters }) => waitForWriters(end)),
      Effect.provide(ReportPeriods.Default),
      Effect.either
    )

  /** An open transaction that began with a statement, and the time of the database right after it. */
  const begin = async (statement: string) => {
    const client = await at().pool.connect()
    await client.query("begin")
    await client.query(statement)
    const { rows } = await client.query("select clock_timestamp() as now")
    return {
      after: new Date(rows[0].now.getTime() + 1).toISOString(),
      end: async (how: "commit" | "rollback") => {
        await client.query(how)
        client.release()
      }
    }
  }
  const writing = "select pg_current_xact_id()"

  it.each(["commit", "rollback"] as const)("waits for the %s of a writer that began before its end", async (how) => {
    const writer = await begin(writing)
    const waiting = runtime.runFork(waitFor(writer.after))
    await runtime.runPromise(Effect.sleep("300 millis"))
    assert.isNull(waiting.unsafePoll())
    await writer.end(how)
    assert.isTrue(Either.isRight(await runtime.runPromise(Fiber.join(waiting))))
  })

  it("does not wait for readers, and not for writers that began after its end", async () => {
    const reader = await begin("select 1")
    const writer = await begin(writing)
    const past = new Date(Date.now() - 60_000).toISOString()
    assert.isTrue(Either.isRight(await runtime.runPromise(waitFor(past))))
    await writer.end("rollback")
    assert.isTrue(Either.isRight(await runtime.runPromise(waitFor(reader.after))))
    await reader.end("rollback")
  })

  it("is unavailable when a writer does not end", async () => {
    const writer = await begin(writing)
    assert.deepStrictEqual(
      await runtime.runPromise(waitFor(writer.after)),
      Either.left(Unavailable.because("a transaction still writes into the period of a report"))
    )
    await writer.end("rollback")
  })
})
