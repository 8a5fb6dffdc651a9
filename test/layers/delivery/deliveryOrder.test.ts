import { setTimeout as sleep } from "node:timers/promises"
import * as SqlClient from "@effect/sql/SqlClient"
import { Effect, ManagedRuntime } from "effect"
import * as fc from "fast-check"
import type pg from "pg"
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "vitest"
import { CurrentTenant, IfMatch } from "../../../src/domain/tenancy/RequestContext.ts"
import { TenantId } from "../../../src/domain/tenancy/Tenant.ts"
import type { Settings } from "../../../src/layers/config/Settings.ts"
import { Deliveries } from "../../../src/layers/delivery/Deliveries.ts"
import {
  lockAndReorderDeliveries,
  lockOrderingShared,
  type OrderingKey,
  promoteNextDeliveries
} from "../../../src/layers/delivery/DeliveryOrder.ts"
import { inTransaction } from "../../../src/layers/postgres/connection/Transactions.ts"
import { makeId } from "../../../src/layers/postgres/IdGenerator.ts"
import { migrate } from "../../../src/layers/postgres/Migrations.ts"
import { type DeliveryFields, insertDelivery, insertIntegration } from "../../support/fixtures/deliveryRows.ts"
import { lockRow } from "../../support/fixtures/rowLock.ts"
import { freshDatabase, openPool } from "../../support/servers/database.ts"
import { testLayers } from "../../support/servers/layers.ts"

interface Claimed extends OrderingKey {
  readonly id: string
  readonly sequence: number
}

const waits = "WAITING"
const sent = "PENDING"

describe("lanes", () => {
  let database: Awaited<ReturnType<typeof freshDatabase>>
  let pool: pg.Pool
  let runtime: ManagedRuntime.ManagedRuntime<SqlClient.SqlClient | Settings, unknown>
  let ledger: Deliveries
  let integration: string
  const tenant = TenantId.make("tnt_lanes")
  beforeAll(async () => {
    database = await freshDatabase()
    pool = openPool(database.url)
    runtime = ManagedRuntime.make(testLayers(database.url, { DATABASE_POOL: "12" }))
    await runtime.runPromise(migrate)
    await pool.query(
      "insert into tenants (id, name, created_at, updated_at, sequence) values ($1, 'T', now(), now(), 1)",
      [tenant]
    )
    ledger = await runtime.runPromise(Effect.provide(Deliveries, Deliveries.Default))
  })
  afterAll(async () => {
    await runtime.dispose()
    await pool.end()
    await database.drop()
  })
  beforeEach(async () => {
    integration = await insertIntegration(pool, tenant)
  })

  const inTenant = <A, E>(work: Effect.Effect<A, E, CurrentTenant | IfMatch>) =>
    runtime.runPromise(
      work.pipe(Effect.provideService(CurrentTenant, tenant), Effect.provideService(IfMatch, undefined))
    )
  const redeliver = (id: string) => inTenant(ledger.redeliver(integration, id))
  const redeliverAll = async () => {
    const which = { since: "2020-01-01T00:00:00.000Z" }
    const { isComplete, redelivered } = await inTenant(ledger.redeliverAll(integration, which))
    assert.isTrue(isComplete)
    return redelivered
  }

  const plantLane = async (resource: string, ...rows: ReadonlyArray<DeliveryFields>) => {
    const ids: Array<string> = []
    for (const [n, row] of rows.entries()) {
      ids.push(await insertDelivery(pool, tenant, integration, { resource, sequence: n + 1, ...row }))
    }
    return ids
  }
  const statusesOf = async (resource: string) => {
    const { rows } = await pool.query<{ status: string }>(
      "select status from deliveries where integration_id = $1 and resource_id = $2 order by sequence",
      [integration, resource]
    )
    return rows.map(({ status }) => status)
  }

  /** Lanes that have something to do and not exactly one that is sent. */
  const broken = async () => {
    const { rows } = await pool.query(
      `select resource_id, json_agg(status order by sequence) from deliveries
       where integration_id = $1 and status in ('WAITING', 'PENDING') group by resource_id
       having count(*) filter (where status = 'PENDING') <> 1`,
      [integration]
    )
    return rows
  }

  const now = "2026-01-01T00:00:00Z"
  it.each<[string, ReadonlyArray<DeliveryFields>, number, ReadonlyArray<string>]>([
    ["alone", [{}], 0, [sent]],
    ["before what is finished", [{}, {}], 0, [sent, "DELIVERED"]],
    ["before what was next", [{}, { status: sent, nextAttemptAt: now }, { status: waits }], 0, [sent, waits, waits]],
    ["behind what is next", [{ status: sent, nextAttemptAt: now }, {}], 1, [sent, waits]],
    ["behind what is being sent", [{}, { status: sent, lease: "me" }, { status: waits }], 0, [waits, sent, waits]],
    ["although it is next", [{ status: sent, nextAttemptAt: now }, { status: waits }], 0, [sent, waits]],
    ["although it waits", [{ status: sent, nextAttemptAt: now }, { status: waits }], 1, [sent, waits]]
  ])("take one back %s", async (_, rows, which, expected) => {
    const resource = makeId("clnt")
    const ids = await plantLane(resource, ...rows)
    const shown = await redeliver(ids[which] ?? "")
    assert.deepStrictEqual(await statusesOf(resource), expected)
    assert.strictEqual(shown.status, expected[which])
    assert.closeTo(Date.parse(shown.nextAttemptAt ?? ""), Date.now(), 5000)
    assert.isUndefined(shown.error)
  })

  it("leave the one that is being sent as it is", async () => {
    const resource = makeId("clnt")
    const [id = ""] = await plantLane(resource, { status: sent, lease: "me", nextAttemptAt: now }, { status: waits })
    const before = await pool.query("select * from deliveries where id = $1", [id])
    await redeliver(id)
    assert.deepStrictEqual((await pool.query("select * from deliveries where id = $1", [id])).rows, before.rows)
  })

  it("begin a new round, with the attempts before it spent", async () => {
    const [id = ""] = await plantLane(makeId("clnt"), { status: "EXHAUSTED", attempts: 10 })
    const shown = await redeliver(id)
    assert.strictEqual(shown.attempts, 10)
    assert.lengthOf(shown.attemptLog, 10)
    const { rows } = await pool.query("select spent, response_status, error from deliveries where id = $1", [id])
    assert.deepStrictEqual(rows, [{ spent: 10, response_status: null, error: null }])
  })

  it("take everything back at once, each into its place", async () => {
    const [a, b, c] = [makeId("clnt"), makeId("clnt"), makeId("clnt")]
    await plantLane(a, {}, { status: "EXHAUSTED" }, {})
    await plantLane(b, {}, { status: sent, lease: "me" }, { status: waits })
    await plantLane(c, { status: sent }, { status: waits })
    assert.deepStrictEqual(await redeliverAll(), 4)
    assert.deepStrictEqual(await statusesOf(a), [sent, waits, waits])
    assert.deepStrictEqual(await statusesOf(b), [waits, sent, waits])
    assert.deepStrictEqual(await statusesOf(c), [sent, waits])
    assert.deepStrictEqual(await redeliverAll(), 0)
  })

  it("have one that is sent when two finished ones are taken back at the same moment", async () => {
    const resource = makeId("clnt")
    const ids = await plantLane(resource, {}, {})
    for (let round = 0; round < 10; round++) {
      await Promise.all(ids.map(redeliver))
      assert.deepStrictEqual(await statusesOf(resource), [sent, waits])
      await pool.query("update deliveries set status = 'DELIVERED' where integration_id = $1", [integration])
    }
  })

  const finish = (claimed: ReadonlyArray<Claimed>) =>
    runtime.runPromise(
      Effect.flatMap(SqlClient.SqlClient, (sql) =>
        Effect.gen(function* () {
          const ids = claimed.map(({ id }) => id)
          yield* lockOrderingShared(sql)(claimed)
          yield* sql`select 1 from deliveries where tenant_id = ${tenant} and id in ${sql.in(ids)} order by id for update`
          yield* sql`
            update deliveries set status = 'DELIVERED', lease = null, leased_until = null, next_attempt_at = null,
              attempts = attempts + 1 where tenant_id = ${tenant} and id in ${sql.in(ids)}`
          yield* sql`
            insert into delivery_attempts (tenant_id, delivery_id, number, attempted_at, outcome)
            select tenant_id, id, attempts, now(), 'DELIVERED' from deliveries
            where tenant_id = ${tenant} and id in ${sql.in(ids)}`
          yield* promoteNextDeliveries(sql)(claimed)
        }).pipe(inTransaction(sql))
      )
    )

  const claim = async (most: number) => {
    const { rows } = await pool.query<Claimed>(
      `update deliveries set lease = 'me', leased_until = now() + interval '30 seconds' where id in (
         select id from deliveries where integration_id = $1 and status = 'PENDING' and lease is null
           and next_attempt_at <= now() order by random() limit $2 for update skip locked)
       returning tenant_id as tenant, integration_id as integration, resource_id as resource, id, sequence`,
      [integration, most]
    )
    return rows
  }

  it("wait for who finishes, and who finishes for nobody behind", async () => {
    const resource = makeId("clnt")
    const [, leased = ""] = await plantLane(resource, {}, { status: sent, lease: "me" })
    const [first = ""] = await plantLane(makeId("clnt"), {})
    const held = await lockRow(pool, "select 1 from deliveries where id = $1 for update", leased)
    const all = redeliverAll()
    await held.until(1)
    await held.meanwhile("update deliveries set status = 'DELIVERED', lease = null where id = $1", leased)
    await held.release()
    assert.strictEqual(await all, 3, "what was finished meanwhile is finished")
    assert.deepStrictEqual(await statusesOf(resource), [sent, waits])
    assert.strictEqual((await redeliver(first)).status, sent)
  })

  it("let new ones in that are added meanwhile", async () => {
    const resource = makeId("clnt")
    const ids = await plantLane(resource, {}, {}, {})
    const add = async (sequence: number) => {
      await insertDelivery(pool, tenant, integration, { resource, sequence, status: waits, attempts: 0 })
      const lane = { tenant, integration, resource }
      await runtime.runPromise(
        Effect.flatMap(SqlClient.SqlClient, (sql) => inTransaction(sql)(lockAndReorderDeliveries(sql)([lane])))
      )
    }
    await Promise.all([...ids.map(redeliver), add(4), redeliverAll(), add(5)])
    assert.deepStrictEqual(await statusesOf(resource), [sent, waits, waits, waits, waits])
  })

  const lanes = 6
  const depth = 5
  it("drain in order with nothing stuck, whatever is taken back while they are worked on", {
    timeout: 60_000
  }, async () => {
    const ids: Array<string> = []
    for (let lane = 0; lane < lanes; lane++) {
      ids.push(...(await plantLane(makeId("clnt"), ...Array.from({ length: depth }, () => ({})))))
    }
    let isOver = false
    const log: Array<Claimed> = []
    const finisher = async () => {
      for (let idle = 0; !isOver || idle < 20; ) {
        const claimed = await claim(fc.sample(fc.integer({ min: 1, max: 4 }), 1)[0] ?? 1)
        idle = claimed.length === 0 ? idle + 1 : 0
        log.push(...claimed)
        await sleep(claimed.length === 0 ? 3 : Math.random() * 4)
        if (claimed.length > 0) await finish(claimed)
      }
    }
    const redeliverer = async () => {
      for (let round = 0; round < 60; round++) {
        if (Math.random() < 0.25) await redeliverAll()
        else await redeliver(ids[Math.floor(Math.random() * ids.length)] ?? "")
        await sleep(Math.random() * 3)
      }
    }
    const watcher = async () => {
      for (; !isOver; await sleep(5)) assert.deepStrictEqual(await broken(), [])
    }
    const working = [finisher(), finisher(), finisher(), watcher()]
    await Promise.all([redeliverer(), redeliverer(), redeliverer()])
    isOver = true
    await Promise.all(working)
    const { rows } = await pool.query("select status, lease from deliveries where integration_id = $1", [integration])
    assert.deepStrictEqual(new Set(rows.map(({ lease, status }) => `${status} ${lease}`)), new Set(["DELIVERED null"]))
    assert.isAbove(log.length, lanes * depth)

    log.length = 0
    assert.strictEqual(await redeliverAll(), lanes * depth)
    await Promise.all([finisher(), finisher()])
    assert.lengthOf(log, lanes * depth)
    for (const resource of new Set(log.map((claimed) => claimed.resource))) {
      const order = log.flatMap((claimed) => (claimed.resource === resource ? [claimed.sequence] : []))
      assert.deepStrictEqual(order, [1, 2, 3, 4, 5])
    }
  })
})
