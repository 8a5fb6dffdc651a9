import { Socket } from "node:net"
import { Cause, Effect, Exit } from "effect"
import fc from "fast-check"
import pg from "pg"
import { assert, beforeAll, describe, it, vi } from "vitest"
import { PreparedQuery } from "../../../../../src/layers/infra/postgres/connection/PreparedQuery.ts"
import { commitWith } from "../../../../../src/layers/infra/postgres/connection/Transactions.ts"
import { isTransient } from "../../../../../src/layers/infra/postgres/connection/TransientErrors.ts"
import { useFixture } from "../../../../support/fixtures/useFixture.ts"
import { openSingleConnection, type SingleConnection } from "../../../../support/servers/singleConnection.ts"

const schema = `
  create table things (id int primary key, what text, since timestamptz, many bigint);
  insert into things values (1, 'one', '2026-01-02T03:04:05Z', 9007199254740991), (2, null, null, null)`

// With a single connection, every statement runs where it is prepared already.
describe("A prepared statement", () => {
  const at = useFixture(() => openSingleConnection(schema))
  let pool: SingleConnection["pool"]
  let runtime: SingleConnection["runtime"]
  let sql: SingleConnection["sql"]
  beforeAll(() => {
    ;({ pool, runtime, sql } = at())
  })

  const run = <A, E>(work: Effect.Effect<A, E>) => runtime.runPromise(work)
  const errorOf = async (work: Effect.Effect<unknown, unknown>) =>
    Exit.match(await runtime.runPromiseExit(work), {
      onSuccess: () => "",
      onFailure: (cause) => String(Reflect.get(Object(Cause.squash(cause)), "cause"))
    })
  const backendOf = () => run(sql<{ pid: number }>`select pg_backend_pid() as pid where ${1} = 1`)

  const rows = [
    { id: 1, what: "one", since: "2026-01-02T03:04:05.000Z", many: Number.MAX_SAFE_INTEGER },
    { id: 2, what: null, since: null, many: null }
  ]
  const select = (minId: number) => sql`select * from things where id >= ${minId} order by id`

  it("returns the same rows each time, inside and outside of a transaction", async () => {
    for (const _ of [1, 2, 3]) {
      assert.deepStrictEqual(await run(select(1)), rows)
      assert.deepStrictEqual(await run(select(3)), [])
      assert.deepStrictEqual(await run(sql.withTransaction(select(2))), rows.slice(1))
      assert.deepStrictEqual(await run(sql.withTransaction(commitWith(select(1)))), rows)
    }
  })

  it("returns no rows if it has no columns", async () => {
    for (const id of [11, 12, 13]) assert.deepStrictEqual(await run(sql`insert into things values (${id})`), [])
    assert.lengthOf(await run(select(11)), 3)
    for (const _ of [1, 2]) assert.deepStrictEqual(await run(sql`delete from things where id > ${10}`), [])
  })

  it("returns the command and the number of rows as a raw result", async () => {
    const insert = sql`insert into things values (${21}), (${22})`
    const result = (await run(insert.raw)) as { command: string; rowCount: number } // the type of raw results is unknown
    assert.deepInclude(result, { command: "INSERT", rowCount: 2 })
    await run(sql`delete from things where id > ${10}`)
  })

  it("takes one write, together with BEGIN or COMMIT, and is described only the first time", async () => {
    const described = vi.spyOn(PreparedQuery.prototype, "handleRowDescription")
    const write = vi.spyOn(Socket.prototype, "write")
    const first = sql`select ${"first"}::text as word`
    const last = sql`select ${"last"}::text as word`
    const transaction = sql.withTransaction(Effect.all([first, commitWith(last)]))
    try {
      await run(transaction)
      described.mockClear()
      write.mockClear()
      assert.deepStrictEqual(await run(transaction), [[{ word: "first" }], [{ word: "last" }]])
      assert.strictEqual(described.mock.calls.length, 0)
      assert.strictEqual(write.mock.calls.length, 2)
    } finally {
      described.mockRestore()
      write.mockRestore()
    }
  })

  it("works after its first execution failed", async () => {
    const divide = (by: number) => sql`select ${1}::int / ${by}::int as quotient`
    assert.include(await errorOf(divide(0)), "division by zero")
    for (const _ of [1, 2]) assert.deepStrictEqual(await run(divide(1)), [{ quotient: 1 }])
    assert.include(await errorOf(divide(0)), "division by zero")
    assert.deepStrictEqual(await run(divide(1)), [{ quotient: 1 }])
  })

  it("leaves the connection usable when a value cannot be sent", async () => {
    const unsendable = { toJSON: () => assert.fail("cannot be sent") }
    const echo = (value: unknown) => sql`select ${value as string}::text as echo` // the types exclude such values
    assert.include(await errorOf(echo(unsendable)), "cannot be sent")
    for (const _ of [1, 2]) assert.deepStrictEqual(await run(echo("text")), [{ echo: "text" }])
    assert.include(await errorOf(sql.withTransaction(echo(unsendable))), "cannot be sent")
    assert.deepStrictEqual(await run(echo("text")), [{ echo: "text" }])
  })

  it("reports a row that cannot be parsed", () => {
    const errors: Array<Error | undefined> = []
    const statement = { name: "broken", text: "select 1", values: [] }
    const query = new PreparedQuery(statement, { begins: false, commits: false, guard: undefined }, (error) =>
      errors.push(error)
    )
    query.handleRowDescription({ fields: [{ name: "broken", dataTypeID: pg.types.builtins.JSON }] })
    query.handleDataRow({ fields: ["{"] })
    query.handleReadyForQuery()
    assert.deepStrictEqual(
      errors.map((error) => error instanceof SyntaxError),
      [true]
    )
  })

  it("sends any text, number, boolean, bytes, JSON and array unchanged", async () => {
    const text = fc.string({ unit: "binary" }).map((one) => one.replaceAll("\0", ""))
    const values = fc.record({
      text: fc.option(text),
      number: fc.double({ noNaN: true, noDefaultInfinity: true }),
      flag: fc.boolean(),
      bytes: fc.uint8Array(),
      json: fc.dictionary(text, fc.oneof(text, fc.integer())),
      texts: fc.array(fc.option(text)),
      lists: fc.array(fc.tuple(fc.integer({ min: -1000, max: 1000 }), fc.integer({ min: 0, max: 9 })), {
        minLength: 1
      }),
      files: fc.array(fc.uint8Array())
    })
    await fc.assert(
      fc.asyncProperty(values, async (sent) => {
        const [row] = await run(sql`
          select ${sent.text}::text as text, ${sent.number}::float8 as number, ${sent.flag}::boolean as flag,
            ${sent.bytes}::bytea as bytes, ${JSON.stringify(sent.json)}::json as json,
            ${sent.texts as never}::text[] as texts, ${sent.lists as never}::int[] as lists,
            ${sent.files as never}::bytea[] as files`) // arrays are outside of the types of a template
        const bytes = sent.bytes.length === 0 ? Buffer.alloc(0) : Buffer.from(sent.bytes)
        const files = sent.files.map((file) => Buffer.from(file))
        assert.deepStrictEqual(row, { ...sent, number: sent.number || 0, json: { ...sent.json }, bytes, files })
      }),
      { numRuns: 200 }
    )
  })

  it("is described again on another connection, where its columns may differ", async () => {
    const lengths = () => sql`select id, many from things where id = ${1}`
    for (const _ of [1, 2]) assert.deepStrictEqual(await run(lengths()), [{ id: 1, many: Number.MAX_SAFE_INTEGER }])
    const [before] = await backendOf()
    await pool.query("alter table things alter many type text using 'text now'")
    await pool.query("select pg_terminate_backend($1)", [before?.pid])
    await errorOf(sql`select ${1}::int`)
    for (const _ of [1, 2]) assert.deepStrictEqual(await run(lengths()), [{ id: 1, many: "text now" }])
  })

  describe("with columns that a migration changed", () => {
    let columns = 0
    const selectAll = () => sql`select * from things where id = ${1}`
    const addColumn = async () => {
      await run(selectAll())
      await pool.query(`alter table things add column more${columns++} text`)
    }
    const countColumns = (found: ReadonlyArray<object>) => Object.keys(found[0] ?? {}).length

    const retriable = {
      "outside of a transaction": () => selectAll(),
      "as the first statement of a transaction": () =>
        sql.withTransaction(selectAll().pipe(Effect.zipLeft(sql`select ${1}::int`))),
      "as the only statement of a transaction": () => sql.withTransaction(commitWith(selectAll()))
    }
    for (const [where, query] of Object.entries(retriable))
      it(`is prepared again ${where}`, async () => {
        await run(query())
        await addColumn()
        const before = await backendOf()
        const found = await run(query())
        assert.strictEqual(
          countColumns(found),
          countColumns((await pool.query("select * from things where id = 1")).rows)
        )
        assert.deepStrictEqual(await run(query()), found)
        assert.deepStrictEqual(await backendOf(), before)
      })

    it("fails as a transient error later in a transaction, and is prepared again the next time", async () => {
      await addColumn()
      const transaction = sql.withTransaction(Effect.zipRight(sql`insert into things values (${77})`, selectAll()))
      const exit = await runtime.runPromiseExit(transaction)
      assert.isTrue(Exit.isFailure(exit) && isTransient(Cause.squash(exit.cause)), `${exit}`)
      assert.isNotEmpty(await run(transaction))
    })
  })
})

describe("Statements of a pool", () => {
  const first = useFixture(() => openSingleConnection(""))
  const second = useFixture(() => openSingleConnection(""))
  const prepared = async ({ runtime, sql }: SingleConnection) => {
    const rows = await runtime.runPromise(sql<{ statement: string }>`select statement from pg_prepared_statements`)
    return rows.map(({ statement }) => statement)
  }

  it("are prepared under up to 500 names, and another pool has as many", async () => {
    const texts = Array.from({ length: 501 }, (_, index) => `select ${index} as number`)
    const { runtime, sql } = first()
    for (const text of texts) await runtime.runPromise(sql.unsafe(text))
    const kept = await prepared(first())
    assert.lengthOf(kept, 500)
    assert.deepStrictEqual(new Set(kept), new Set(texts.slice(0, 500)))
    await second().runtime.runPromise(second().sql.unsafe("select 501"))
    assert.include(await prepared(second()), "select 501")
  })
})
