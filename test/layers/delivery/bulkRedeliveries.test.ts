import { SqlClient } from "@effect/sql/SqlClient"
import { Effect, Exit, Layer, Scope } from "effect"
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "vitest"
import { TenantId } from "../../../src/domain/tenancy/Tenant.ts"
import { makeBulkRedeliveries } from "../../../src/layers/delivery/BulkRedeliveries.ts"
import { makeId } from "../../../src/layers/postgres/IdGenerator.ts"
import { startRedeliveryLoop } from "../../../src/workers/delivery/RedeliveryLoop.ts"
import { makeWakeSignal } from "../../../src/workers/WakeSignal.ts"
import { insertDelivery } from "../../support/fixtures/deliveryRows.ts"
import { lockRow } from "../../support/fixtures/rowLock.ts"
import { type DeliveryDatabase, openDeliveryDatabase } from "../../support/servers/deliveryDatabase.ts"
import { eventually } from "../../support/servers/worker.ts"

const limits = { maxScanned: 30, maxRequeued: 8 }
const always = { since: "2020-01-01T00:00:00.000Z" }

describe("redeliveries", () => {
  let ledger: DeliveryDatabase
  let redeliveries: ReturnType<typeof makeBulkRedeliveries>
  let tenant: TenantId
  let integration: string
  beforeAll(async () => {
    ledger = await openDeliveryDatabase()
    redeliveries = await ledger.runIn(Effect.map(SqlClient, (sql) => makeBulkRedeliveries(sql, limits)))
  })
  afterAll(() => ledger.close())
  beforeEach(async () => {
    tenant = TenantId.make(await ledger.newTenant())
    integration = await ledger.newIntegration(tenant)
  })

  /** So many finished deliveries, in lanes of ten. */
  const plant = async (count: number) => {
    const client = makeId("clnt")
    for (let n = 0; n < count; n++)
      await insertDelivery(ledger.sql, tenant, integration, {
        resource: `${client}${Math.floor(n / 10)}`,
        sequence: n
      })
  }
  const begin = (more = {}) => ledger.run(redeliveries.start(tenant, integration, { ...always, ...more }))
  const advance = async () => {
    const { rows } = await ledger.sql.query("select id from redeliveries where tenant_id = $1", [tenant])
    const open = { tenant, integration, id: String(rows[0]?.id) }
    return (await ledger.run(redeliveries.advance(open))) ?? assert.fail("nobody else is at it")
  }
  const count = async (condition: string) => {
    const { rows } = await ledger.sql.query<{ count: number }>(
      `select count(*)::int from deliveries where integration_id = $1 and ${condition}`,
      [integration]
    )
    return rows[0]?.count ?? 0
  }
  const openOnes = async () =>
    (await ledger.sql.query("select 1 from redeliveries where tenant_id = $1", [tenant])).rows.length
  const unfinished = "status in ('WAITING', 'PENDING')"

  it("put back no more than fits a step, until all that was finished is put back once", async () => {
    await plant(60)
    const under = await insertDelivery(ledger.sql, tenant, integration, { status: "PENDING" })
    let last: { redelivered: number; isComplete: boolean } = await begin()
    assert.deepStrictEqual(last, { redelivered: 8, isComplete: false })
    await plant(5)
    let total = last.redelivered
    while (!last.isComplete) {
      assert.strictEqual(await openOnes(), 1)
      // Delivered again already, and not to be sent a third time.
      await ledger.sql.query(
        `update deliveries set status = 'DELIVERED', attempts = attempts + 1, updated_at = now() + interval '1 second'
         where integration_id = $1 and ${unfinished}`,
        [integration]
      )
      last = await advance()
      assert.isAtMost(last.redelivered, limits.maxRequeued)
      total += last.redelivered
    }
    assert.strictEqual(total, 60)
    assert.strictEqual(await count("attempts = 1 and status = 'DELIVERED'"), 5, "what came later stays as it is")
    assert.strictEqual(await count(`id = '${under}' and status = 'DELIVERED'`), 1, "and what was finished later")
    assert.strictEqual(await count("attempts > 2"), 0, "and nothing is sent twice more")
    assert.strictEqual(await openOnes(), 0)
    const { rows } = await ledger.sql.query(
      `select resource_id from deliveries where integration_id = $1 and ${unfinished} group by 1
       having count(*) filter (where status = 'PENDING') <> 1`,
      [integration]
    )
    assert.deepStrictEqual(rows, [], "every lane has one that is sent")
  })

  it("look at no more than fits a step, although there is nothing to put back", async () => {
    await plant(70)
    const steps = [await begin({ status: "EXHAUSTED" }), await advance(), await advance()]
    assert.deepStrictEqual(
      steps.map(({ isComplete, redelivered }) => [redelivered, isComplete]),
      [
        [0, false],
        [0, false],
        [0, true]
      ]
    )
  })

  it("keep nobody from recording outcomes between their steps, and nobody of others while one is held up", async () => {
    await plant(20)
    const own = await insertDelivery(ledger.sql, tenant, integration, {
      status: "PENDING",
      nextAttemptAt: always.since
    })
    const elsewhere = await ledger.newIntegration(tenant)
    await insertDelivery(ledger.sql, tenant, elsewhere, { status: "PENDING", nextAttemptAt: always.since })
    const { claimed } = await ledger.run(
      ledger.claims.claim(makeId("lease"), "", {
        pool: "NEW",
        max: 50,
        maxPerTenant: 50,
        allowanceByTenant: {},
        sendLimitByIntegration: {}
      })
    )
    const record = async (of: string) => {
      const [one] = claimed.filter(({ integration }) => integration === of)
      assert(one)
      const attempt = { attemptedAt: new Date().toISOString(), latencyMs: 1, delivered: true }
      await ledger.run(ledger.outcomes.record([{ ...one, ...attempt }]))
    }
    assert.isFalse((await begin()).isComplete)
    const { rows } = await ledger.sql.query(
      `select 1 from pg_locks join pg_database on pg_database.oid = database
       where locktype = 'advisory' and datname = current_database()`
    )
    assert.deepStrictEqual(rows, [], "nothing is locked between steps")
    await record(claimed.find(({ id }) => id === own)?.integration ?? "")
    const held = await lockRow(
      ledger.sql,
      "select 1 from deliveries where integration_id = $1 and status = 'DELIVERED' for update",
      integration
    )
    const step = advance()
    await held.until(1)
    await record(elsewhere)
    await held.release()
    assert.isAbove((await step).redelivered, 0)
  })

  it("are completed by a worker, also by the next one after a stop", async () => {
    await plant(45)
    await begin()
    const start = async () => {
      const scope = Effect.runSync(Scope.make())
      const worker = Layer.scopedDiscard(Effect.flatMap(makeWakeSignal, (bell) => startRedeliveryLoop(bell, limits)))
      await ledger.runIn(Effect.asVoid(Layer.buildWithScope(worker, scope)))
      return () => Effect.runPromise(Scope.close(scope, Exit.void))
    }
    const held = await lockRow(
      ledger.sql,
      "select 1 from (select id from deliveries where integration_id = $1 order by id desc limit 1) last join deliveries using (id) for update of deliveries",
      integration
    )
    const stop = await start()
    await held.until(1)
    const stopping = stop()
    await held.release()
    await stopping
    const again = await start()
    await eventually(async () => (await openOnes()) === 0, "the redelivery is complete")
    await again()
    assert.strictEqual(await count(unfinished), 45)
  })

  it("go with their integration", async () => {
    await plant(20)
    await begin()
    await ledger.sql.query("delete from integrations where id = $1", [integration])
    assert.strictEqual(await openOnes(), 0)
  })
})
