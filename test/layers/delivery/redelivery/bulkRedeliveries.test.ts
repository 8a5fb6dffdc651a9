import { SqlClient } from "@effect/sql/SqlClient"
import { Effect, Exit, Layer, Scope } from "effect"
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "vitest"
import { maxOpenRedeliveries } from "../../../../src/domain/delivery/Delivery.ts"
import { TenantId } from "../../../../src/domain/tenancy/Tenant.ts"
import { makeBulkRedeliveries } from "../../../../src/layers/delivery/redelivery/BulkRedeliveries.ts"
import { makeId } from "../../../../src/layers/infra/postgres/IdGenerator.ts"
import { startRedeliveryLoop } from "../../../../src/workers/delivery/RedeliveryLoop.ts"
import { makeWakeSignal } from "../../../../src/workers/WakeSignal.ts"
import { insertDelivery } from "../../../support/fixtures/deliveryRows.ts"
import { lockRow } from "../../../support/fixtures/rowLock.ts"
import { type DeliveryDatabase, openDeliveryDatabase } from "../../../support/servers/deliveryDatabase.ts"
import { eventually } from "../../../support/servers/worker.ts"

const limits = { maxScanned: 30, maxRequeued: 8 }
const sinceAlways = { since: "2020-01-01T00:00:00.000Z" }

describe("A bulk redelivery", () => {
  let database: DeliveryDatabase
  let redeliveries: ReturnType<typeof makeBulkRedeliveries>
  let tenant: TenantId
  let integration: string
  beforeAll(async () => {
    database = await openDeliveryDatabase()
    redeliveries = await database.runIn(Effect.map(SqlClient, (sql) => makeBulkRedeliveries(sql, limits)))
  })
  afterAll(() => database.close())
  beforeEach(async () => {
    tenant = TenantId.make(await database.newTenant())
    integration = await database.newIntegration(tenant)
  })

  /** Inserts so many delivered deliveries, ten of each resource. */
  const insertDelivered = async (count: number) => {
    const client = makeId("clnt")
    const rows = Array.from({ length: count }, (_, n) => ({ resource: `${client}${Math.floor(n / 10)}`, sequence: n }))
    await Promise.all(rows.map((row) => insertDelivery(database.sql, tenant, integration, row)))
  }
  const startRedelivery = (more = {}) =>
    database.run(redeliveries.start(tenant, integration, { ...sinceAlways, ...more }))
  const advance = async () => {
    const { rows } = await database.sql.query("select id from redeliveries where tenant_id = $1", [tenant])
    const open = { tenant, integration, id: String(rows[0]?.id) }
    return (await database.run(redeliveries.advance(open))) ?? assert.fail("another worker has claimed the redelivery")
  }
  const count = async (condition: string) => {
    const { rows } = await database.sql.query<{ count: number }>(
      `select count(*)::int from deliveries where integration_id = $1 and ${condition}`,
      [integration]
    )
    return rows[0]?.count ?? 0
  }
  const countOpen = async () =>
    (await database.sql.query("select 1 from redeliveries where tenant_id = $1", [tenant])).rows.length
  const unfinished = "status in ('WAITING', 'PENDING')"

  it("requeues at most maxRequeued deliveries per step, and every finished delivery once", async () => {
    await insertDelivered(60)
    const pending = await insertDelivery(database.sql, tenant, integration, { status: "PENDING" })
    let step: { redelivered: number; isComplete: boolean } = await startRedelivery()
    assert.deepStrictEqual(step, { redelivered: 8, isComplete: false })
    await insertDelivered(5)
    let total = step.redelivered
    while (!step.isComplete) {
      assert.strictEqual(await countOpen(), 1)
      // A redelivered delivery must not be requeued again.
      await database.sql.query(
        `update deliveries set status = 'DELIVERED', attempts = attempts + 1, updated_at = now() + interval '1 second'
         where integration_id = $1 and ${unfinished}`,
        [integration]
      )
      step = await advance()
      assert.isAtMost(step.redelivered, limits.maxRequeued)
      total += step.redelivered
    }
    assert.strictEqual(total, 60)
    assert.strictEqual(await count("attempts = 1 and status = 'DELIVERED'"), 5, "later deliveries are not requeued")
    assert.strictEqual(
      await count(`id = '${pending}' and status = 'DELIVERED'`),
      1,
      "a delivery that finished later is not requeued"
    )
    assert.strictEqual(await count("attempts > 2"), 0, "no delivery is requeued twice")
    assert.strictEqual(await countOpen(), 0)
    const { rows } = await database.sql.query(
      `select resource_id from deliveries where integration_id = $1 and ${unfinished} group by 1
       having count(*) filter (where status = 'PENDING') <> 1`,
      [integration]
    )
    assert.deepStrictEqual(rows, [], "each resource has exactly one pending delivery")
  })

  it("requeues mails that may have arrived only on request", async () => {
    for (const status of ["DELIVERED", "EXHAUSTED", "UNCERTAIN"] as const) {
      await insertDelivery(database.sql, tenant, integration, { status })
    }
    assert.deepStrictEqual(await startRedelivery(), { redelivered: 2, isComplete: true })
    assert.strictEqual(await count("status = 'UNCERTAIN'"), 1)
    assert.deepStrictEqual(await startRedelivery({ status: "UNCERTAIN" }), { redelivered: 1, isComplete: true })
  })

  it("scans at most maxScanned deliveries per step if none matches", async () => {
    await insertDelivered(70)
    const steps = [await startRedelivery({ status: "EXHAUSTED" }), await advance(), await advance()]
    assert.deepStrictEqual(
      steps.map(({ isComplete, redelivered }) => [redelivered, isComplete]),
      [
        [0, false],
        [0, false],
        [0, true]
      ]
    )
  })

  it("does not block the results of its integration between steps, nor of other integrations during a step", async () => {
    await insertDelivered(20)
    const ownDelivery = await insertDelivery(database.sql, tenant, integration, {
      status: "PENDING",
      nextAttemptAt: sinceAlways.since
    })
    const otherIntegration = await database.newIntegration(tenant)
    await insertDelivery(database.sql, tenant, otherIntegration, {
      status: "PENDING",
      nextAttemptAt: sinceAlways.since
    })
    const { claimed } = await database.run(
      database.claims.claim(makeId("lease"), "", {
        pool: "NEW",
        max: 50,
        maxPerTenant: 50,
        allowanceByTenant: {},
        sendLimitByIntegration: {}
      })
    )
    const recordResult = async (of: string) => {
      const [one] = claimed.filter(({ integration }) => integration === of)
      assert(one)
      const attempt = { attemptedAt: new Date().toISOString(), latencyMs: 1, delivered: true }
      await database.run(database.attemptResults.record([{ ...one, ...attempt }]))
    }
    assert.isFalse((await startRedelivery()).isComplete)
    const { rows } = await database.sql.query(
      `select 1 from pg_locks join pg_database on pg_database.oid = database
       where locktype = 'advisory' and datname = current_database()`
    )
    assert.deepStrictEqual(rows, [], "a lock is held between steps")
    await recordResult(claimed.find(({ id }) => id === ownDelivery)?.integration ?? "")
    const lock = await lockRow(
      database.sql,
      "select 1 from deliveries where integration_id = $1 and status = 'DELIVERED' for update",
      integration
    )
    const step = advance()
    await lock.untilWaiting(1)
    await recordResult(otherIntegration)
    await lock.release()
    assert.isAbove((await step).redelivered, 0)
  })

  it("is completed by a worker, and by the next worker after a stop", async () => {
    await insertDelivered(45)
    await startRedelivery()
    const startWorker = async () => {
      const scope = Effect.runSync(Scope.make())
      const worker = Layer.scopedDiscard(
        Effect.flatMap(makeWakeSignal, (wakeSignal) => startRedeliveryLoop(wakeSignal, limits))
      )
      await database.runIn(Effect.asVoid(Layer.buildWithScope(worker, scope)))
      return () => Effect.runPromise(Scope.close(scope, Exit.void))
    }
    const lock = await lockRow(
      database.sql,
      "select 1 from (select id from deliveries where integration_id = $1 order by id desc limit 1) last join deliveries using (id) for update of deliveries",
      integration
    )
    const stop = await startWorker()
    await lock.untilWaiting(1)
    const stopping = stop()
    await lock.release()
    await stopping
    const stopSecond = await startWorker()
    await eventually(async () => (await countOpen()) === 0, "the redelivery is complete")
    await stopSecond()
    assert.strictEqual(await count(unfinished), 45)
  })

  it("requeues mails by recipient", async () => {
    await insertDelivered(2)
    await database.sql.query("update deliveries set recipient = 'ada@client.example' where integration_id = $1", [
      integration
    ])
    assert.deepStrictEqual(await startRedelivery(), { redelivered: 2, isComplete: true })
  })

  it("is the next one that is due, tenant by tenant, and waits after a failure", async () => {
    await insertDelivered(20)
    await startRedelivery()
    const next = (after = "") => database.run(redeliveries.nextDue(after))
    const open = (await next()) ?? assert.fail("none is due")
    assert.strictEqual(open.tenant, tenant)
    assert.isUndefined(await next(tenant))
    await database.run(redeliveries.postpone(open))
    const { rows } = await database.sql.query(
      "select extract(epoch from due_at - now())::integer as wait from redeliveries where id = $1",
      [open.id]
    )
    assert.approximately(rows[0]?.wait, 30, 5)
    assert.isUndefined(await next())
    await database.sql.query("update redeliveries set due_at = now() where id = $1", [open.id])
    await database.sql.query("update tenants set deleted_at = now() where id = $1", [tenant])
    assert.isUndefined(await next(), "the tenant is deleted")
    await database.sql.query("delete from redeliveries where id = $1", [open.id])
  })

  it("leaves the capacity of other integrations of the tenant as it is", async () => {
    await insertDelivered(limits.maxScanned + 5)
    for (let n = 0; n < maxOpenRedeliveries; n++) await startRedelivery({ status: "EXHAUSTED" })
    const other = await database.newIntegration(tenant)
    const started = await database.run(redeliveries.start(tenant, other, sinceAlways))
    assert.deepStrictEqual(started, { redelivered: 0, isComplete: true })
    assert.isTrue(Exit.isFailure(await database.run(Effect.exit(redeliveries.start(tenant, integration, sinceAlways)))))
  })

  it("is deleted with its integration", async () => {
    await insertDelivered(20)
    await startRedelivery()
    await database.sql.query("delete from integrations where id = $1", [integration])
    assert.strictEqual(await countOpen(), 0)
  })
})
