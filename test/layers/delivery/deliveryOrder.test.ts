import { setTimeout as sleep } from "node:timers/promises"
import * as SqlClient from "@effect/sql/SqlClient"
import { Effect, ManagedRuntime } from "effect"
import * as fc from "fast-check"
import type pg from "pg"
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "vitest"
import { CurrentTenant, IfMatch } from "../../../src/domain/tenancy/RequestContext.ts"
import { TenantId } from "../../../src/domain/tenancy/Tenant.ts"
import { Deliveries } from "../../../src/layers/delivery/Deliveries.ts"
import {
  lockAndReorderDeliveries,
  lockOrderingShared,
  type OrderingKey,
  promoteNextDeliveries
} from "../../../src/layers/delivery/DeliveryOrder.ts"
import type { Settings } from "../../../src/layers/infra/config/Settings.ts"
import { inTransaction } from "../../../src/layers/infra/postgres/connection/Transactions.ts"
import { makeId } from "../../../src/layers/infra/postgres/IdGenerator.ts"
import { migrate } from "../../../src/layers/infra/postgres/Migrations.ts"
import { type DeliveryFields, insertDelivery, insertIntegration } from "../../support/fixtures/deliveryRows.ts"
import { lockRow } from "../../support/fixtures/rowLock.ts"
import { freshDatabase, openPool } from "../../support/servers/database.ts"
import { testLayers } from "../../support/servers/layers.ts"

interface Claimed extends OrderingKey {
  readonly id: string
  readonly sequence: number
}

const waiting = "WAITING"
const pending = "PENDING"

describe("The delivery order of a resource", () => {
  let database: Awaited<ReturnType<typeof freshDatabase>>
  let pool: pg.Pool
  let runtime: ManagedRuntime.ManagedRuntime<SqlClient.SqlClient | Settings, unknown>
  let deliveries: Deliveries
  let integration: string
  const tenant = TenantId.make("tnt_order")
  beforeAll(async () => {
    database = await freshDatabase()
    pool = openPool(database.url)
    runtime = ManagedRuntime.make(testLayers(database.url, { DATABASE_POOL: "12" }))
    await runtime.runPromise(migrate)
    await pool.query(
      "insert into tenants (id, name, created_at, updated_at, sequence) values ($1, 'T', now(), now(), 1)",
      [tenant]
    )
    deliveries = await runtime.runPromise(Effect.provide(Deliveries, Deliveries.Default))
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
  const redeliver = (id: string) => inTenant(deliveries.redeliver(integration, id))
  const redeliverAll = async () => {
    const filter = { since: "2020-01-01T00:00:00.000Z" }
    const { isComplete, redelivered } = await inTenant(deliveries.redeliverAll(integration, filter))
    assert.isTrue(isComplete)
    return redelivered
  }

  const insertDeliveries = async (resource: string, ...rows: ReadonlyArray<DeliveryFields>) => {
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

  /** Resources with open deliveries of which not exactly one is pending. */
  const findBrokenOrders = async () => {
    const { rows } = await pool.query(
      `select resource_id, json_agg(status order by sequence) from deliveries
       where integration_id = $1 and status in ('WAITING', 'PENDING') group by resource_id
       having count(*) filter (where status = 'PENDING') <> 1`,
      [integration]
    )
    return rows
  }

  it("keeps the time of a retry while an earlier delivery is sent again", async () => {
    const resource = makeId("clnt")
    const retryAt = "2126-01-01T00:00:00.000Z"
    const [first = "", second = "", third = ""] = await insertDeliveries(
      resource,
      {},
      { status: pending, nextAttemptAt: retryAt },
      { status: waiting }
    )
    await redeliver(first)
    const finish = (delivery: string) =>
      runtime.runPromise(
        Effect.flatMap(SqlClient.SqlClient, (sql) =>
          Effect.gen(function* () {
            const key = { tenant, integration, resource }
            yield* lockOrderingShared(sql)([key])
            yield* sql`update deliveries set status = 'DELIVERED', next_attempt_at = null where id = ${delivery}`
            yield* promoteNextDeliveries(sql)([key])
          }).pipe(inTransaction(sql))
        )
      )
    const nextAttemptOf = async (delivery: string) => {
      const { rows } = await pool.query("select status, next_attempt_at as at from deliveries where id = $1", [
        delivery
      ])
      return { status: rows[0]?.status, at: rows[0]?.at === null ? null : new Date(rows[0]?.at).toISOString() }
    }
    assert.deepStrictEqual(await nextAttemptOf(second), { status: waiting, at: retryAt })
    await finish(first)
    assert.deepStrictEqual(await nextAttemptOf(second), { status: pending, at: retryAt })
    await finish(second)
    const next = await nextAttemptOf(third)
    assert.strictEqual(next.status, pending)
    assert.isAtMost(Date.parse(next.at ?? ""), Date.now())
  })

  const now = "2026-01-01T00:00:00Z"
  it.each<[string, ReadonlyArray<DeliveryFields>, number, ReadonlyArray<string>]>([
    ["alone", [{}], 0, [pending]],
    ["before a delivered delivery", [{}, {}], 0, [pending, "DELIVERED"]],
    [
      "before the pending delivery",
      [{}, { status: pending, nextAttemptAt: now }, { status: waiting }],
      0,
      [pending, waiting, waiting]
    ],
    ["after the pending delivery", [{ status: pending, nextAttemptAt: now }, {}], 1, [pending, waiting]],
    [
      "after a delivery in flight",
      [{}, { status: pending, lease: "me" }, { status: waiting }],
      0,
      [waiting, pending, waiting]
    ],
    ["that is pending already", [{ status: pending, nextAttemptAt: now }, { status: waiting }], 0, [pending, waiting]],
    ["that is waiting already", [{ status: pending, nextAttemptAt: now }, { status: waiting }], 1, [pending, waiting]]
  ])("is kept when a delivery is redelivered %s", async (_, rows, which, expected) => {
    const resource = makeId("clnt")
    const ids = await insertDeliveries(resource, ...rows)
    const before = Date.now()
    const response = await redeliver(ids[which] ?? "")
    assert.deepStrictEqual(await statusesOf(resource), expected)
    assert.strictEqual(response.status, expected[which])
    const nextAttempt = Date.parse(response.nextAttemptAt ?? "")
    assert.isTrue(nextAttempt >= before - 1 && nextAttempt <= Date.now() + 1, "the next attempt is due now")
    assert.isUndefined(response.error)
  })

  it("does not change a delivery in flight when it is redelivered", async () => {
    const resource = makeId("clnt")
    const [id = ""] = await insertDeliveries(
      resource,
      { status: pending, lease: "me", nextAttemptAt: now },
      { status: waiting }
    )
    const before = await pool.query("select * from deliveries where id = $1", [id])
    await redeliver(id)
    assert.deepStrictEqual((await pool.query("select * from deliveries where id = $1", [id])).rows, before.rows)
  })

  it("lets a redelivery start a new round of attempts", async () => {
    const [id = ""] = await insertDeliveries(makeId("clnt"), { status: "EXHAUSTED", attempts: 10 })
    const response = await redeliver(id)
    assert.strictEqual(response.attempts, 10)
    assert.lengthOf(response.attemptLog, 10)
    const { rows } = await pool.query("select spent, response_status, error from deliveries where id = $1", [id])
    assert.deepStrictEqual(rows, [{ spent: 10, response_status: null, error: null }])
  })

  it("is kept when all deliveries are redelivered together", async () => {
    const [a, b, c] = [makeId("clnt"), makeId("clnt"), makeId("clnt")]
    await insertDeliveries(a, {}, { status: "EXHAUSTED" }, {})
    await insertDeliveries(b, {}, { status: pending, lease: "me" }, { status: waiting })
    await insertDeliveries(c, { status: pending }, { status: waiting })
    assert.deepStrictEqual(await redeliverAll(), 4)
    assert.deepStrictEqual(await statusesOf(a), [pending, waiting, waiting])
    assert.deepStrictEqual(await statusesOf(b), [waiting, pending, waiting])
    assert.deepStrictEqual(await statusesOf(c), [pending, waiting])
    assert.deepStrictEqual(await redeliverAll(), 0)
  })

  it("has one pending delivery after two concurrent redeliveries", async () => {
    const resource = makeId("clnt")
    const ids = await insertDeliveries(resource, {}, {})
    for (let round = 0; round < 5; round++) {
      await Promise.all(ids.map(redeliver))
      assert.deepStrictEqual(await statusesOf(resource), [pending, waiting])
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

  const claim = async (max: number) => {
    const { rows } = await pool.query<Claimed>(
      `update deliveries set lease = 'me', leased_until = now() + interval '30 seconds' where id in (
         select id from deliveries where integration_id = $1 and status = 'PENDING' and lease is null
           and next_attempt_at <= now() order by random() limit $2 for update skip locked)
       returning tenant_id as tenant, integration_id as integration, resource_id as resource, id, sequence`,
      [integration, max]
    )
    return rows
  }

  it("is kept when a redelivery waits for a delivery that finishes meanwhile", async () => {
    const resource = makeId("clnt")
    const [, leased = ""] = await insertDeliveries(resource, {}, { status: pending, lease: "me" })
    const [first = ""] = await insertDeliveries(makeId("clnt"), {})
    const lock = await lockRow(pool, "select 1 from deliveries where id = $1 for update", leased)
    const all = redeliverAll()
    await lock.untilWaiting(1)
    await lock.runInTransaction("update deliveries set status = 'DELIVERED', lease = null where id = $1", leased)
    await lock.release()
    assert.strictEqual(await all, 3, "the delivery that finished meanwhile is redelivered too")
    assert.deepStrictEqual(await statusesOf(resource), [pending, waiting])
    assert.strictEqual((await redeliver(first)).status, pending)
  })

  it("is kept when deliveries are added during redeliveries", async () => {
    const resource = makeId("clnt")
    const ids = await insertDeliveries(resource, {}, {}, {})
    const add = async (sequence: number) => {
      await insertDelivery(pool, tenant, integration, { resource, sequence, status: waiting, attempts: 0 })
      const key = { tenant, integration, resource }
      await runtime.runPromise(
        Effect.flatMap(SqlClient.SqlClient, (sql) => inTransaction(sql)(lockAndReorderDeliveries(sql)([key])))
      )
    }
    await Promise.all([...ids.map(redeliver), add(4), redeliverAll(), add(5)])
    assert.deepStrictEqual(await statusesOf(resource), [pending, waiting, waiting, waiting, waiting])
  })

  const resources = 6
  const depth = 5
  it("is kept and no delivery gets stuck when deliveries are redelivered while workers send", {
    timeout: 60_000
  }, async () => {
    const ids: Array<string> = []
    for (let n = 0; n < resources; n++) {
      ids.push(...(await insertDeliveries(makeId("clnt"), ...Array.from({ length: depth }, () => ({})))))
    }
    // Nothing waits for the pauses below: they vary the interleaving.
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
      for (let round = 0; round < 25; round++) {
        if (Math.random() < 0.25) await redeliverAll()
        else await redeliver(ids[Math.floor(Math.random() * ids.length)] ?? "")
        await sleep(Math.random() * 3)
      }
    }
    const watcher = async () => {
      for (; !isOver; await sleep(5)) assert.deepStrictEqual(await findBrokenOrders(), [])
    }
    const working = [finisher(), finisher(), finisher(), watcher()]
    await Promise.all([redeliverer(), redeliverer(), redeliverer()])
    isOver = true
    await Promise.all(working)
    const { rows } = await pool.query("select status, lease from deliveries where integration_id = $1", [integration])
    assert.deepStrictEqual(new Set(rows.map(({ lease, status }) => `${status} ${lease}`)), new Set(["DELIVERED null"]))
    assert.isAbove(log.length, resources * depth)

    log.length = 0
    assert.strictEqual(await redeliverAll(), resources * depth)
    await Promise.all([finisher(), finisher()])
    assert.lengthOf(log, resources * depth)
    for (const resource of new Set(log.map((claimed) => claimed.resource))) {
      const order = log.flatMap((claimed) => (claimed.resource === resource ? [claimed.sequence] : []))
      assert.deepStrictEqual(order, [1, 2, 3, 4, 5])
    }
  })
})
