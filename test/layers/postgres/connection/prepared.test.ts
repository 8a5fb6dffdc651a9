import { Socket } from "node:net"
import { SqlClient } from "@effect/sql/SqlClient"
import { Cause, Effect, Exit, ManagedRuntime } from "effect"
import pg from "pg"
import { assert, beforeAll, describe, it, vi } from "vitest"
import { commitWith } from "../../../../src/layers/postgres/connection/Transactions.ts"
import { isTransient } from "../../../../src/layers/postgres/connection/TransientErrors.ts"
import { useFixture } from "../../../support/fixtures/useFixture.ts"
import { testLayers } from "../../../support/servers/layers.ts"
import { openSingleConnection, type SingleConnection } from "../../../support/servers/singleConnection.ts"

const schema = `
  create table things (id int primary key, what text, since timestamptz, many bigint);
  insert into things values (1, 'one', '2026-01-02T03:04:05Z', 9007199254740991), (2, null, null, null)`

// One connection only: what it learns when a statement first runs, it uses the next times.
describe("a prepared statement on the only connection there is", () => {
  const at = useFixture(() => openSingleConnection(schema))
  let database: SingleConnection["database"]
  let pool: SingleConnection["pool"]
  let runtime: SingleConnection["runtime"]
  let sql: SingleConnection["sql"]
  beforeAll(() => {
    ;({ database, pool, runtime, sql } = at())
  })

  const run = <A, E>(work: Effect.Effect<A, E>) => runtime.runPromise(work)
  const failureOf = async (work: Effect.Effect<unknown, unknown>) =>
    Exit.match(await runtime.runPromiseExit(work), {
      onSuccess: () => "",
      onFailure: (cause) => String(Reflect.get(Object(Cause.squash(cause)), "cause"))
    })

  const stored = [
    { id: 1, what: "one", since: "2026-01-02T03:04:05.000Z", many: Number.MAX_SAFE_INTEGER },
    { id: 2, what: null, since: null, many: null }
  ]
  const select = (least: number) => sql`select * from things where id >= ${least} order by id`

  it("brings the same rows each time, also none, also in a transaction it opens and closes", async () => {
    for (const _ of [1, 2, 3]) {
      assert.deepStrictEqual(await run(select(1)), stored)
      assert.deepStrictEqual(await run(select(3)), [])
      assert.deepStrictEqual(await run(sql.withTransaction(select(2))), stored.slice(1))
      assert.deepStrictEqual(await run(sql.withTransaction(commitWith(select(1)))), stored)
    }
  })

  it("brings no rows each time when it has none", async () => {
    for (const id of [11, 12, 13]) assert.deepStrictEqual(await run(sql`insert into things values (${id})`), [])
    assert.lengthOf(await run(select(11)), 3)
    for (const _ of [1, 2]) assert.deepStrictEqual(await run(sql`delete from things where id > ${10}`), [])
  })

  it("goes to the server in one piece, and is described the first time only", async () => {
    const told = vi.spyOn(pg.Query.prototype as object as { handleRowDescription: () => void }, "handleRowDescription") // untyped
    const written = vi.spyOn(Socket.prototype, "write")
    const statement = () => sql.withTransaction(commitWith(sql`select ${"described"}::text as word`))
    try {
      await run(statement())
      assert.strictEqual(told.mock.calls.length, 1)
      written.mockClear()
      assert.deepStrictEqual(await run(statement()), [{ word: "described" }])
      assert.strictEqual(told.mock.calls.length, 1)
      assert.strictEqual(written.mock.calls.length, 1)
    } finally {
      told.mockRestore()
      written.mockRestore()
    }
  })

  it("may fail at first, and works the next times", async () => {
    const divide = (by: number) => sql`select ${1}::int / ${by}::int as quotient`
    assert.include(await failureOf(divide(0)), "division by zero")
    for (const _ of [1, 2]) assert.deepStrictEqual(await run(divide(1)), [{ quotient: 1 }])
    assert.include(await failureOf(divide(0)), "division by zero")
    assert.deepStrictEqual(await run(divide(1)), [{ quotient: 1 }])
  })

  it("leaves the connection as good as before when a value cannot be sent", async () => {
    const unwritable = { toPostgres: () => assert.fail("is not to be written") }
    const echo = (value: unknown) => sql`select ${value as string}::text as echo` // for what the types keep out
    assert.include(await failureOf(echo(unwritable)), "is not to be written")
    for (const _ of [1, 2]) assert.deepStrictEqual(await run(echo("said")), [{ echo: "said" }])
    assert.include(await failureOf(echo(unwritable)), "is not to be written")
    assert.deepStrictEqual(await run(echo("said")), [{ echo: "said" }])
  })

  it("is read as before when a value cannot be sent on another connection", async () => {
    const echo = (value: unknown) => sql`select ${value as string}::text as said, 7 as seven` // as above
    for (const _ of [1, 2]) assert.deepStrictEqual(await run(echo("a")), [{ said: "a", seven: 7 }])
    const other = ManagedRuntime.make(testLayers(database.url, { DATABASE_POOL: "1" }))
    const elsewhere = await other.runPromise(SqlClient)
    const unwritable = { toPostgres: () => assert.fail("is not to be written") } as unknown as string // as above
    const attempt = elsewhere`select ${unwritable}::text as said, 7 as seven`
    assert.isTrue(Exit.isFailure(await other.runPromiseExit(elsewhere.withTransaction(attempt))))
    await other.dispose()
    assert.deepStrictEqual(await run(echo("b")), [{ said: "b", seven: 7 }])
  })

  it("is read anew on another connection, where its columns may be others", async () => {
    const lengths = () => sql`select id, many from things where id = ${1}`
    const backend = () => sql<{ pid: number }>`select pg_backend_pid() as pid where ${1} = 1`
    for (const _ of [1, 2]) assert.deepStrictEqual(await run(lengths()), [{ id: 1, many: Number.MAX_SAFE_INTEGER }])
    const [before] = await run(backend())
    await pool.query("alter table things alter many type text using 'text now'")
    await pool.query("select pg_terminate_backend($1)", [before?.pid])
    await failureOf(backend())
    for (const _ of [1, 2]) assert.deepStrictEqual(await run(lengths()), [{ id: 1, many: "text now" }])
  })

  describe("whose rows a migration changed", () => {
    let columns = 0
    const everything = () => sql`select * from things where id = ${1}`
    const known = () => run(sql<{ total: number }>`select count(*)::int as total from things where id >= ${0}`)
    /** As many columns as there are now. */
    const change = async () => {
      await run(everything())
      await pool.query(`alter table things add column more${columns++} text`)
    }
    const backend = () => run(sql<{ pid: number }>`select pg_backend_pid() as pid where ${1} = 1`)
    const width = (rows: ReadonlyArray<object>) => Object.keys(rows[0] ?? {}).length

    const alone = {
      alone: () => everything(),
      "first in a transaction": () => sql.withTransaction(everything().pipe(Effect.zipLeft(sql`select ${1}::int`))),
      "as a whole transaction": () => sql.withTransaction(commitWith(everything()))
    }
    for (const [where, ask] of Object.entries(alone))
      it(`is prepared anew ${where}, nobody notices, and the next connection knows nothing of it`, async () => {
        await run(ask())
        await change()
        const before = await backend()
        const found = await run(ask())
        assert.strictEqual(width(found), width((await pool.query("select * from things where id = 1")).rows))
        assert.notDeepEqual(await backend(), before)
        assert.deepStrictEqual(await run(ask()), found)
        assert.isNotEmpty(await known())
      })

    it("fails later in a transaction as an outage does, and the next connection prepares it anew", async () => {
      await change()
      const before = await backend()
      const later = sql.withTransaction(Effect.zipRight(sql`insert into things values (${77})`, everything()))
      const exit = await runtime.runPromiseExit(later)
      assert.isTrue(Exit.isFailure(exit) && isTransient(Cause.squash(exit.cause)), `${exit}`)
      assert.notDeepEqual(await backend(), before)
      assert.isNotEmpty(await run(later))
    })
  })
})
