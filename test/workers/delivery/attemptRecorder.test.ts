import { Effect, Exit, Layer, ManagedRuntime, Scope } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { TenantId } from "../../../src/domain/tenancy/Tenant.ts"
import { type AttemptResult, AttemptResults } from "../../../src/layers/delivery/AttemptResults.ts"
import { Integrations } from "../../../src/layers/integrations/Integrations.ts"
import { migrate } from "../../../src/layers/postgres/Migrations.ts"
import { DeliveryMetrics } from "../../../src/layers/telemetry/DeliveryMetrics.ts"
import { makeAttemptRecorder } from "../../../src/workers/delivery/AttemptRecorder.ts"
import { insertDelivery, insertIntegration } from "../../support/fixtures/deliveryRows.ts"
import { insertTenant } from "../../support/fixtures/dueDeliveries.ts"
import { freshDatabase, openPool } from "../../support/servers/database.ts"
import { testLayers } from "../../support/servers/layers.ts"
import { eventually } from "../../support/servers/worker.ts"

const open = async () => {
  const database = await freshDatabase()
  const pool = openPool(database.url)
  const live = Layer.mergeAll(AttemptResults.Default, Integrations.Default, DeliveryMetrics.Default)
  const runtime = ManagedRuntime.make(Layer.provideMerge(live, testLayers(database.url, {})))
  await runtime.runPromise(migrate)
  const recorded: Array<AttemptResult> = []
  const scope = Effect.runSync(Scope.make())
  const making = makeAttemptRecorder((outcome) => void recorded.push(outcome))
  const record = await runtime.runPromise(Scope.extend(making, scope))
  const close = async () => {
    await Effect.runPromise(Scope.close(scope, Exit.void))
    await runtime.dispose()
    await pool.end()
    await database.drop()
  }
  return { pool, recorded, close, record: (outcome: AttemptResult) => runtime.runPromise(record(outcome)) }
}

describe("recording", () => {
  let at: Awaited<ReturnType<typeof open>>
  beforeAll(async () => {
    at = await open()
  })
  afterAll(() => at.close())

  const attempted = async (
    tenant: TenantId,
    integration: string,
    more: Partial<AttemptResult> = {}
  ): Promise<AttemptResult> => {
    const lease = "lease_test"
    const id = await insertDelivery(at.pool, tenant, integration, { status: "PENDING", attempts: 0, lease })
    const attemptedAt = new Date().toISOString()
    return { tenant, integration, id, lease, delivered: true, attemptedAt, latencyMs: 1, status: 200, ...more }
  }
  const scene = async () => {
    const tenant = TenantId.make(await insertTenant(at.pool))
    return { tenant, integration: await insertIntegration(at.pool, tenant) }
  }
  const statusOf = async ({ id }: AttemptResult) =>
    (await at.pool.query("select status from deliveries where id = $1", [id])).rows[0]?.status

  it("records all but the outcome that the database refuses, and that one as soon as it does not", async () => {
    const [good, bad] = [await scene(), await scene()]
    await at.pool.query("alter table delivery_attempts add constraint refused check (response_status <> 299)")
    const poison = await attempted(bad.tenant, bad.integration, { status: 299 })
    const others: Array<AttemptResult> = []
    for (const { integration, tenant } of [good, bad])
      for (let n = 0; n < 10; n++) others.push(await attempted(tenant, integration))
    await Promise.all([...others.slice(0, 12), poison, ...others.slice(12)].map(at.record))
    await eventually(() => at.recorded.length === others.length, "the others are recorded")
    assert.sameMembers(at.recorded, others)
    assert.strictEqual(await statusOf(poison), "PENDING")
    const later = await attempted(bad.tenant, bad.integration)
    await at.record(later)
    await eventually(() => at.recorded.includes(later), "what comes later is recorded")
    assert.notInclude(at.recorded, poison)
    await at.pool.query("alter table delivery_attempts drop constraint refused")
    await eventually(() => at.recorded.includes(poison), "it is recorded as well")
    assert.strictEqual(await statusOf(poison), "DELIVERED")
  })

  it("stops the integration that wants no more before it records why, and holds up nobody for that", async () => {
    const [good, gone] = [await scene(), await scene()]
    const stopping = await attempted(gone.tenant, gone.integration, {
      delivered: false,
      status: 410,
      nextAttemptAt: new Date().toISOString(),
      stopReason: "Gone\u0000"
    })
    const holder = await at.pool.connect()
    await holder.query("begin")
    await holder.query("select 1 from integrations where id = $1 for update", [gone.integration])
    await at.record(stopping)
    const other = await attempted(good.tenant, good.integration)
    await at.record(other)
    await eventually(() => at.recorded.includes(other), "the other is recorded")
    assert.notInclude(at.recorded, stopping)
    await holder.query("commit")
    holder.release()
    await eventually(() => at.recorded.includes(stopping), "it is recorded as well")
    const { rows } = await at.pool.query("select status, status_reason from integrations where id = $1", [
      gone.integration
    ])
    assert.deepStrictEqual(rows, [{ status: "ERROR", status_reason: "Gone" }])
  })

  it("records while others take the lock of the lanes over and over", { timeout: 20_000 }, async () => {
    const { integration, tenant } = await scene()
    const outcome = await attempted(tenant, integration)
    let isOver = false
    // There is always one who has it and one who waits for it.
    const taking = Array.from({ length: 3 }, async () => {
      while (!isOver) {
        await at.pool.query(
          `with held as materialized (select pg_advisory_xact_lock(hashtextextended($1, 0)))
           select pg_sleep(0.03) from held`,
          [`deliveries ${tenant} ${integration}`]
        )
      }
    })
    try {
      await at.record(outcome)
      await eventually(() => at.recorded.includes(outcome), "it is recorded")
    } finally {
      isOver = true
      await Promise.all(taking)
    }
    assert.strictEqual(await statusOf(outcome), "DELIVERED")
  })
})
