import { Effect, Exit, Layer, ManagedRuntime, Scope } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { TenantId } from "../../../src/domain/tenancy/Tenant.ts"
import { type AttemptResult, AttemptResults } from "../../../src/layers/delivery/AttemptResults.ts"
import { DeliveryMetrics } from "../../../src/layers/delivery/DeliveryMetrics.ts"
import { migrate } from "../../../src/layers/infra/postgres/Migrations.ts"
import { Integrations } from "../../../src/layers/integrations/Integrations.ts"
import { makeAttemptRecorder } from "../../../src/workers/delivery/AttemptRecorder.ts"
import { insertDelivery, insertIntegration } from "../../support/fixtures/deliveryRows.ts"
import { insertTenant } from "../../support/fixtures/dueDeliveries.ts"
import { freshDatabase, openPool } from "../../support/servers/database.ts"
import { testLayers } from "../../support/servers/layers.ts"
import { eventually } from "../../support/servers/worker.ts"

const openRecorder = async () => {
  const database = await freshDatabase()
  const pool = openPool(database.url)
  const live = Layer.mergeAll(AttemptResults.Default, Integrations.Default, DeliveryMetrics.Default)
  const runtime = ManagedRuntime.make(Layer.provideMerge(live, testLayers(database.url, {})))
  await runtime.runPromise(migrate)
  const recorded: Array<AttemptResult> = []
  const scope = Effect.runSync(Scope.make())
  const makeRecorder = makeAttemptRecorder((result) => void recorded.push(result))
  const record = await runtime.runPromise(Scope.extend(makeRecorder, scope))
  const close = async () => {
    await Effect.runPromise(Scope.close(scope, Exit.void))
    await runtime.dispose()
    await pool.end()
    await database.drop()
  }
  return { pool, recorded, close, record: (result: AttemptResult) => runtime.runPromise(record(result)) }
}

describe("The attempt recorder", () => {
  let at: Awaited<ReturnType<typeof openRecorder>>
  beforeAll(async () => {
    at = await openRecorder()
  })
  afterAll(() => at.close())

  const insertAttempt = async (
    tenant: TenantId,
    integration: string,
    more: Partial<AttemptResult> = {}
  ): Promise<AttemptResult> => {
    const lease = "lease_test"
    const id = await insertDelivery(at.pool, tenant, integration, { status: "PENDING", attempts: 0, lease })
    const attemptedAt = new Date().toISOString()
    return { tenant, integration, id, lease, delivered: true, attemptedAt, latencyMs: 1, status: 200, ...more }
  }
  const insertTenantWithIntegration = async () => {
    const tenant = TenantId.make(await insertTenant(at.pool))
    return { tenant, integration: await insertIntegration(at.pool, tenant) }
  }
  const statusOf = async ({ id }: AttemptResult) =>
    (await at.pool.query("select status from deliveries where id = $1", [id])).rows[0]?.status

  it("records every result except one that the database rejects, and records that one later", async () => {
    const [good, bad] = [await insertTenantWithIntegration(), await insertTenantWithIntegration()]
    await at.pool.query("alter table delivery_attempts add constraint refused check (response_status <> 299)")
    const poison = await insertAttempt(bad.tenant, bad.integration, { status: 299 })
    const others: Array<AttemptResult> = []
    for (const { integration, tenant } of [good, bad])
      for (let n = 0; n < 10; n++) others.push(await insertAttempt(tenant, integration))
    await Promise.all([...others.slice(0, 12), poison, ...others.slice(12)].map(at.record))
    await eventually(() => at.recorded.length === others.length, "the other results are recorded")
    assert.sameMembers(at.recorded, others)
    assert.strictEqual(await statusOf(poison), "PENDING")
    const later = await insertAttempt(bad.tenant, bad.integration)
    await at.record(later)
    await eventually(() => at.recorded.includes(later), "a later result is recorded")
    assert.notInclude(at.recorded, poison)
    await at.pool.query("alter table delivery_attempts drop constraint refused")
    await eventually(() => at.recorded.includes(poison), "the rejected result is recorded")
    assert.strictEqual(await statusOf(poison), "DELIVERED")
  })

  it("sets an integration to ERROR before it records the result, without blocking other integrations", async () => {
    const [good, gone] = [await insertTenantWithIntegration(), await insertTenantWithIntegration()]
    const stopping = await insertAttempt(gone.tenant, gone.integration, {
      delivered: false,
      status: 410,
      nextAttemptAt: new Date().toISOString(),
      stopReason: "Gone\u0000"
    })
    const locker = await at.pool.connect()
    await locker.query("begin")
    await locker.query("select 1 from integrations where id = $1 for update", [gone.integration])
    await at.record(stopping)
    const other = await insertAttempt(good.tenant, good.integration)
    await at.record(other)
    await eventually(() => at.recorded.includes(other), "the other result is recorded")
    assert.notInclude(at.recorded, stopping)
    await locker.query("commit")
    locker.release()
    await eventually(() => at.recorded.includes(stopping), "the result with the stop reason is recorded")
    const { rows } = await at.pool.query("select status, status_reason from integrations where id = $1", [
      gone.integration
    ])
    assert.deepStrictEqual(rows, [{ status: "ERROR", status_reason: "Gone" }])
  })

  it("records a result while other sessions take the integration's lock again and again", {
    timeout: 60_000
  }, async () => {
    const { integration, tenant } = await insertTenantWithIntegration()
    const result = await insertAttempt(tenant, integration)
    let isDone = false
    // At any time one session holds the lock and another waits for it.
    const takeLock = () =>
      at.pool.query(
        `with locked as materialized (select pg_advisory_xact_lock(hashtextextended($1, 0)))
         select pg_sleep(0.03) from locked`,
        [`deliveries ${tenant} ${integration}`]
      )
    const sessions = Array.from({ length: 3 }, async () => {
      while (!isDone) {
        await takeLock().catch(({ code }) => {
          // On a busy host a session can wait for longer than statements wait for locks.
          if (code !== "55P03") throw new Error(`The lock failed with ${code}`)
        })
      }
    })
    try {
      await at.record(result)
      await eventually(() => at.recorded.includes(result), "the result is recorded")
    } finally {
      isDone = true
      await Promise.all(sessions)
    }
    assert.strictEqual(await statusOf(result), "DELIVERED")
  })
})
