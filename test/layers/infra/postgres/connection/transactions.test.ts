import { Cause, Effect, Either, Exit, Fiber } from "effect"
import { assert, beforeAll, beforeEach, describe, it } from "vitest"
import { commitWith } from "../../../../../src/layers/infra/postgres/connection/Transactions.ts"
import { invoiceClient } from "../../../../support/fixtures/invoices.ts"
import { lockRow } from "../../../../support/fixtures/rowLock.ts"
import { useFixture } from "../../../../support/fixtures/useFixture.ts"
import { startService } from "../../../../support/servers/service.ts"
import { openSingleConnection, type SingleConnection } from "../../../../support/servers/singleConnection.ts"
import { openLoggedDatabase } from "../../../../support/servers/statementLog.ts"

const schema = `
  create table things (id int primary key, other int references things deferrable initially deferred);
  create table held (id int primary key);
  insert into held values (1);
  create function cut() returns trigger language plpgsql as
    $$ begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$;
  create table traps (id int);
  create constraint trigger trap after insert on traps deferrable initially deferred for each row execute function cut()`

const refusal = new Error("the work was refused")

// One connection only: one that does not come back, or comes back in a transaction, fails whatever is next.
describe("a transaction on the only connection there is", () => {
  const at = useFixture(() => openSingleConnection(schema))
  let database: SingleConnection["database"]
  let pool: SingleConnection["pool"]
  let runtime: SingleConnection["runtime"]
  let sql: SingleConnection["sql"]
  beforeAll(async () => {
    ;({ database, pool, runtime, sql } = at())
    // What a connection has to learn once is not what is measured.
    await transact(add(1))
  })
  beforeEach(() => pool.query("truncate things"))

  const add = (id: number, other?: number) => sql`insert into things values (${id}, ${other ?? null})`
  const transact = <A, E>(work: Effect.Effect<A, E>) => runtime.runPromiseExit(sql.withTransaction(work))
  const backend = Effect.map(
    Effect.suspend(() => sql<{ pid: number }>`select pg_backend_pid() as pid`),
    ([row]) => Number(row?.pid)
  )
  const kept = async () =>
    (await pool.query<{ id: number }>("select id from things order by id")).rows.map(({ id }) => id)

  /** Asserts that the connection is outside of any transaction and can begin another. */
  const assertUsable = async () => {
    const before = await kept()
    assert.isTrue(Exit.isSuccess(await transact(Effect.zipRight(add(100), commitWith(add(101))))))
    assert.isTrue(Exit.isSuccess(await runtime.runPromiseExit(add(102))))
    assert.deepStrictEqual(await kept(), [...before, 100, 101, 102])
  }

  const succeeding: ReadonlyArray<[string, () => Effect.Effect<unknown, unknown>, ReadonlyArray<string>]> = [
    [
      "that does not know its last statement",
      () => Effect.zipRight(add(1), add(2)),
      ["<unnamed>: BEGIN", "insert", "insert", "statement: COMMIT"]
    ],
    [
      "that does",
      () => Effect.zipRight(add(1), commitWith(add(2))),
      ["<unnamed>: BEGIN", "insert", "insert", "<unnamed>: COMMIT"]
    ],
    ["of nothing", () => Effect.void, []],
    ["that finishes without a statement", () => commitWith(Effect.void), []]
  ]
  for (const [name, work, statements] of succeeding)
    it(`${name} is committed`, async () => {
      const logged = await database.during(async () => assert.isTrue(Exit.isSuccess(await transact(work()))))
      assert.lengthOf(logged, statements.length)
      for (const [n, statement] of statements.entries()) assert.include(logged[n], statement)
      assert.deepStrictEqual(await kept(), statements.length === 0 ? [] : [1, 2])
      await assertUsable()
    })

  it("of one statement takes one message, and has that statement's rows", async () => {
    const one = commitWith(sql<{ id: number }>`insert into things values (${1}), (${2}) returning id`)
    const logged = await database.during(async () =>
      assert.deepStrictEqual(await transact(one), Exit.succeed([{ id: 1 }, { id: 2 }]))
    )
    assert.lengthOf(logged, 1)
    assert.include(logged[0], "insert")
    assert.deepStrictEqual(await kept(), [1, 2])
  })

  const broken = () => sql`insert into things values (${1}), (${1})`
  const dangling = () => add(5, 999)
  const failing: ReadonlyArray<[string, string, () => Effect.Effect<unknown, unknown>]> = [
    ["its first statement fails", "23505", () => Effect.zipRight(broken(), add(2))],
    ["its only statement fails", "23505", () => commitWith(broken())],
    ["a middle statement fails", "23505", () => Effect.all([add(2), broken(), commitWith(add(3))])],
    ["its closing statement fails", "23505", () => Effect.zipRight(add(2), commitWith(broken()))],
    ["a constraint fails at the commit", "23503", () => Effect.zipRight(add(2), dangling())],
    ["one fails at the commit that rides along", "23503", () => Effect.zipRight(add(2), commitWith(dangling()))],
    ["one fails at the commit of its only statement", "23503", () => commitWith(dangling())],
    ["the work fails before any statement", refusal.message, () => Effect.fail(refusal)],
    ["the work fails after its statements", refusal.message, () => Effect.zipRight(add(2), Effect.fail(refusal))],
    ["the work dies after its statements", refusal.message, () => Effect.zipRight(add(2), Effect.die(refusal))]
  ]
  for (const [name, why, work] of failing)
    it(`keeps nothing when ${name}, but its connection`, async () => {
      const before = await runtime.runPromise(backend)
      const exit = await transact(work())
      assert.isTrue(Exit.isFailure(exit) && JSON.stringify(Cause.squash(exit.cause), errors).includes(why), `${exit}`)
      assert.deepStrictEqual(await kept(), [])
      assert.strictEqual(await runtime.runPromise(backend), before)
      await assertUsable()
    })

  it("asks nothing of the server when the work fails before any statement", async () => {
    assert.deepStrictEqual(await database.during(() => transact(Effect.fail(refusal))), [])
  })

  it("tells that nothing was kept to work that overlooks its failed statement", async () => {
    const exit = await transact(Effect.zipRight(add(2), Effect.ignore(broken())))
    assert.include(JSON.stringify(exit, errors), "the server rolled it back")
    assert.deepStrictEqual(await kept(), [])
    await assertUsable()
  })

  it("is not closed by who finishes a part of it", async () => {
    const part = sql.withTransaction(Effect.zipRight(add(1), commitWith(add(2))))
    assert.isTrue(Exit.isSuccess(await transact(Effect.zipRight(part, commitWith(add(3))))))
    assert.deepStrictEqual(await kept(), [1, 2, 3])
    await pool.query("truncate things")
    await transact(Effect.zipRight(part, Effect.fail(refusal)))
    assert.deepStrictEqual(await kept(), [])
    await assertUsable()
  })

  it("goes on without a part that failed", async () => {
    const part = sql.withTransaction(Effect.zipRight(add(1), commitWith(broken())))
    const work = Effect.all([add(2), Effect.either(part), commitWith(add(3))])
    const exit = await transact(work)
    assert.isTrue(Exit.isSuccess(exit) && Either.isLeft(exit.value[1]))
    assert.deepStrictEqual(await kept(), [2, 3])
    await assertUsable()
  })

  const closings = [
    ["succeeded", () => add(1), [1]],
    ["failed", () => dangling(), []]
  ] as const
  for (const [name, closing, left] of closings)
    it(`takes no statement, nor a part, after the closing one ${name}`, async () => {
      const late = [add(2), add(3), sql.unsafe("delete from things"), sql.withTransaction(add(4))]
      const refused: Array<unknown> = []
      const work = Effect.zipRight(
        Effect.ignore(commitWith(closing())),
        Effect.forEach(late, (statement) => Effect.map(Effect.flip(statement), (error) => refused.push(error)))
      )
      const logged = await database.during(async () =>
        assert.strictEqual(Exit.isSuccess(await transact(work)), left.length > 0)
      )
      assert.lengthOf(refused, late.length)
      for (const error of refused) assert.include(JSON.stringify(error, errors), "is closed already")
      assert.isFalse(logged.some((line) => /delete|savepoint|values \(2/i.test(line)))
      assert.deepStrictEqual(await kept(), [...left])
      await assertUsable()
    })

  const die = () => sql`select pg_terminate_backend(pg_backend_pid()), ${1}::int`
  /** From beside, and until it is gone: the connection is in the middle of a transaction, and nothing runs on it. */
  const cut = Effect.flatMap(backend, (pid) =>
    Effect.promise(() => pool.query("select pg_terminate_backend($1, 5000)", [pid]))
  )
  const losing: ReadonlyArray<[string, () => Effect.Effect<unknown, unknown>]> = [
    ["with its first statement", () => Effect.zipRight(die(), add(1))],
    ["with its only statement", () => commitWith(die())],
    ["with a middle statement", () => Effect.all([add(1), die(), commitWith(add(2))])],
    ["between two statements", () => Effect.all([add(1), cut, add(2)])],
    ["before its closing statement", () => Effect.all([add(1), cut, commitWith(add(2))])],
    ["with its closing statement", () => Effect.zipRight(add(1), commitWith(die()))],
    ["before its commit", () => Effect.zipRight(add(1), cut)],
    ["at its commit", () => Effect.zipRight(add(1), sql`insert into traps values (${1})`)],
    ["at the commit that rides along", () => Effect.zipRight(add(1), commitWith(sql`insert into traps values (${1})`))],
    ["before it is undone", () => Effect.all([add(1), cut, Effect.fail(refusal)])],
    ["in a part", () => Effect.zipRight(add(1), sql.withTransaction(die()))]
  ]
  for (const [name, work] of losing)
    it(`that loses its connection ${name} keeps nothing, and the next has another`, async () => {
      const before = await runtime.runPromise(backend)
      assert.isTrue(Exit.isFailure(await transact(work())))
      assert.deepStrictEqual(await kept(), [])
      assert.notStrictEqual(await runtime.runPromise(backend), before)
      await assertUsable()
    })

  it("gets another connection when the only one was lost before it began", async () => {
    await runtime.runPromise(cut)
    await assertUsable()
  })

  const wait = () => sql`update held set id = id where id = ${1}`
  const interruptions: ReadonlyArray<[string, () => Effect.Effect<unknown, unknown>, ReadonlyArray<number>]> = [
    ["its first statement runs is undone", () => Effect.zipRight(wait(), add(1)), []],
    ["a middle statement runs is undone", () => Effect.all([add(1), wait(), add(2)]), []],
    ["its closing statement runs is committed by it", () => Effect.zipRight(add(1), commitWith(wait())), [1]]
  ]
  for (const [name, work, left] of interruptions)
    it(`that is interrupted while ${name}`, async () => {
      const row = await lockRow(pool, "select 1 from held for update")
      const fiber = runtime.runFork(sql.withTransaction(work()))
      await row.untilWaiting(1)
      const interrupted = runtime.runPromise(Fiber.interrupt(fiber))
      await row.release()
      assert.isTrue(Exit.isInterrupted(await interrupted))
      assert.deepStrictEqual(await kept(), [...left])
      await assertUsable()
    })
})

/** Errors keep what matters about them out of JSON. */
const errors = (_: string, value: unknown) =>
  value instanceof Error ? { ...value, message: value.message, cause: value.cause } : value

describe("adding lines", () => {
  it("opens its transaction with the statement that holds the invoice, and closes it with the last", async () => {
    const database = await openLoggedDatabase()
    const service = await startService({ DATABASE_URL: database.url })
    try {
      const invoicing = invoiceClient(service, await service.newTenant())
      const { id } = await invoicing.draft()
      await invoicing.add(id, {})
      const logged = await database.during(() => invoicing.add(id, {}))
      const begin = logged.findIndex((line) => line.includes("execute <unnamed>: BEGIN"))
      assert.match(logged[begin + 1] ?? "", /execute s\d+: /)
      assert.match(logged.at(-2) ?? "", /execute s\d+: /)
      assert.match(logged.at(-1) ?? "", /execute <unnamed>: COMMIT/)
      assert.lengthOf(
        logged.filter((line) => /BEGIN|COMMIT|statement:/.test(line)),
        2,
        logged.join("\n")
      )
    } finally {
      await service.stop()
      await database.drop()
    }
  })
})
