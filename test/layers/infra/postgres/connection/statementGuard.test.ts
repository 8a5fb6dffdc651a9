import { Effect, Exit } from "effect"
import { assert, beforeEach, describe, it } from "vitest"
import { RequestShare, type StatementGuard } from "../../../../../src/layers/infra/concurrency/RequestShare.ts"
import { commitWith, inSnapshot } from "../../../../../src/layers/infra/postgres/connection/Transactions.ts"
import { useFixture } from "../../../../support/fixtures/useFixture.ts"
import { openSingleConnection } from "../../../../support/servers/singleConnection.ts"

const isMember = (value: boolean): StatementGuard => ({
  text: "select coalesce((select true where $1::boolean), reject_stranger())",
  values: [value],
  state: "pending"
})

// One connection, so that every statement follows what an earlier one has prepared there.
describe("A guard", () => {
  const at = useFixture(() => openSingleConnection("create table things (id int primary key)"))
  beforeEach(() => at().pool.query("truncate things"))

  const add = (id: number) => at().sql`insert into things values (${id})`
  const run = <A, E>(guard: StatementGuard, work: Effect.Effect<A, E>) =>
    at().runtime.runPromiseExit(Effect.provideService(work, RequestShare, { keys: ["caller"], guard }))
  const things = async () => (await at().pool.query("select id from things order by id")).rows.map(({ id }) => id)

  it("that confirms lets every statement pass, with its own rows only", async () => {
    for (const _ of [1, 2]) {
      const guard = isMember(true)
      const exit = await run(guard, Effect.all([at().sql`select ${1}::int as one`, at().sql`select ${2}::int as two`]))
      assert.deepStrictEqual(exit, Exit.succeed([[{ one: 1 }], [{ two: 2 }]]))
      assert.strictEqual(guard.state, "confirmed")
    }
  })

  it.each<[description: string, work: () => Effect.Effect<unknown, unknown>]>([
    ["alone", () => add(1)],
    ["in a transaction", () => at().sql.withTransaction(Effect.zipRight(add(1), add(2)))],
    ["that is a transaction", () => at().sql.withTransaction(commitWith(add(1)))],
    ["in a savepoint", () => at().sql.withTransaction(at().sql.withTransaction(add(1)))],
    ["in a snapshot", () => inSnapshot(at().sql)(Effect.orDie(add(1)))],
    ["that is not prepared", () => at().sql`insert into things values (1)`.values],
    ["of one packet with others", () => Effect.all([add(1), add(2), add(3)], { concurrency: "unbounded" })]
  ])("that rejects lets no statement pass %s", async (_, work) => {
    for (const _ of [1, 2]) {
      const guard = isMember(false)
      assert.isTrue(Exit.isFailure(await run(guard, work())))
      assert.strictEqual(guard.state, "rejected")
      assert.deepStrictEqual(await things(), [])
    }
    assert.isTrue(Exit.isSuccess(await run(isMember(true), add(7))), "the connection is usable")
  })

  it("that rejects lets nothing pass of work that goes on after a failure", async () => {
    const { sql } = at()
    const goOn = Effect.zipRight(Effect.ignore(add(1)), Effect.zipRight(Effect.ignore(add(2)), Effect.ignore(add(3))))
    await run(isMember(false), goOn)
    await run(isMember(false), sql.withTransaction(goOn))
    await run(isMember(false), sql.withTransaction(Effect.zipRight(Effect.ignore(add(1)), commitWith(add(2)))))
    assert.deepStrictEqual(await things(), [])
  })

  it("has confirmed also when the statement after it fails", async () => {
    const guard = isMember(true)
    assert.isTrue(Exit.isFailure(await run(guard, at().sql`select 1 / ${0}::int`)))
    assert.strictEqual(guard.state, "confirmed")
  })

  it("that rejects lets no statement pass when the pool has no more names for statements", async () => {
    const { runtime, sql } = at()
    await runtime.runPromise(add(1))
    await at().pool.query("truncate things")
    for (let n = 0; n < 520; n++) await runtime.runPromise(sql.unsafe(`select ${n} as n where $1::int = 1`, [1]))
    // Names are used up, so that this guard gets none. The insert has one.
    const unnamed = (value: boolean) => ({ ...isMember(value), text: `${isMember(value).text} as confirmed` })
    for (const id of [1, 2, 3]) assert.isTrue(Exit.isSuccess(await run(unnamed(true), add(id))), `insert ${id}`)
    for (const id of [4, 5]) assert.isTrue(Exit.isFailure(await run(unnamed(false), add(id))))
    assert.isTrue(Exit.isSuccess(await run(unnamed(true), sql.withTransaction(Effect.zipRight(add(6), add(7))))))
    assert.isTrue(Exit.isFailure(await run(unnamed(false), sql.withTransaction(add(8)))))
    // BEGIN and COMMIT have no names either.
    assert.isTrue(
      Exit.isSuccess(await run(unnamed(true), sql.withTransaction(Effect.zipRight(add(9), commitWith(add(10))))))
    )
    for (const id of [11, 12]) assert.isTrue(Exit.isSuccess(await run(unnamed(true), add(id))), `insert ${id}`)
    assert.deepStrictEqual(await things(), [1, 2, 3, 6, 7, 9, 10, 11, 12])
  })
})
