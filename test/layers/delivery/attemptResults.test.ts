import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { SendPool } from "../../../src/domain/delivery/SendLimits.ts"
import { TenantId } from "../../../src/domain/tenancy/Tenant.ts"
import type { AttemptResult } from "../../../src/layers/delivery/AttemptResults.ts"
import type { ClaimedDelivery } from "../../../src/layers/delivery/Claims.ts"
import { makeId } from "../../../src/layers/postgres/IdGenerator.ts"
import { insertDelivery } from "../../support/fixtures/deliveryRows.ts"
import { type DeliveryDatabase, openDeliveryDatabase } from "../../support/servers/deliveryDatabase.ts"

describe("outcomes", () => {
  let ledger: DeliveryDatabase
  beforeAll(async () => {
    ledger = await openDeliveryDatabase()
  })
  afterAll(() => ledger.close())

  /** An attempt that is under way, and that it succeeded. */
  const attempted = async (more: Partial<AttemptResult> = {}): Promise<AttemptResult> => {
    const tenant = TenantId.make(await ledger.newTenant())
    const integration = await ledger.newIntegration(tenant)
    const lease = "lease_test"
    const id = await insertDelivery(ledger.sql, tenant, integration, { status: "PENDING", attempts: 0, lease })
    const attemptedAt = new Date().toISOString()
    return { tenant, integration, id, lease, delivered: true, attemptedAt, latencyMs: 1, status: 200, ...more }
  }
  const record = (...outcomes: ReadonlyArray<AttemptResult>) => ledger.run(ledger.outcomes.record(outcomes))
  const statusOf = async ({ id }: AttemptResult) =>
    (await ledger.sql.query<{ status: string }>("select status from deliveries where id = $1", [id])).rows[0]?.status
  const classOf = async ({ integration }: AttemptResult) =>
    (await ledger.sql.query("select latency_class from integrations where id = $1", [integration])).rows[0]
      ?.latency_class
  const holding = async (statement: string, value: string) => {
    const connection = await ledger.sql.connect()
    await connection.query("begin")
    await connection.query(statement, [value])
    return async () => {
      await connection.query("rollback")
      connection.release()
    }
  }

  it.each<[string, string, (outcome: AttemptResult) => string]>([
    [
      "lanes are",
      "select pg_advisory_xact_lock(hashtextextended($1, 0))",
      ({ integration, tenant }) => `deliveries ${tenant} ${integration}`
    ],
    ["delivery is", "select 1 from deliveries where id = $1 for update", ({ id }) => id]
  ])("are recorded while another one's %s locked, which is returned for later", async (_, statement, valueOf) => {
    const [one, other] = [await attempted(), await attempted()]
    const release = await holding(statement, valueOf(other))
    assert.deepStrictEqual(await record(one, other), [other])
    assert.deepStrictEqual([await statusOf(one), await statusOf(other)], ["DELIVERED", "PENDING"])
    await release()
    assert.deepStrictEqual(await record(other), [])
    assert.strictEqual(await statusOf(other), "DELIVERED")
  })

  it("are not returned when somebody else has the lease, or the delivery is gone", async () => {
    const [lost, gone] = [await attempted({ lease: "another" }), await attempted()]
    await ledger.sql.query("delete from deliveries where id = $1", [gone.id])
    assert.deepStrictEqual(await record(lost, gone), [])
    assert.strictEqual(await statusOf(lost), "PENDING")
  })

  it("are recorded without what PostgreSQL cannot hold", async () => {
    const outcome = await attempted({
      delivered: false,
      body: "a\u0000b\ud800c",
      error: "\udfff\u0000broken",
      stopReason: "\u0000",
      pool: "SLOW"
    })
    assert.deepStrictEqual(await record(outcome), [])
    const { rows } = await ledger.sql.query(
      "select response_body, error from delivery_attempts where delivery_id = $1",
      [outcome.id]
    )
    assert.deepStrictEqual(rows, [{ response_body: "ab\ufffdc", error: "\ufffdbroken" }])
    assert.strictEqual(await classOf(outcome), "SLOW")
  })

  it("tell how quickly a receiver answers, unless somebody else has the integration locked", async () => {
    const first = await attempted()
    const again = async (pool: SendPool | undefined) => {
      await record({ ...first, pool })
      return classOf(first)
    }
    assert.deepStrictEqual(
      [await again("PROVEN"), await again(undefined), await again("SLOW"), await again("NEW")],
      ["PROVEN", "PROVEN", "SLOW", null]
    )
    const release = await holding("select 1 from integrations where id = $1 for update", first.integration)
    assert.isNull(await again("SLOW"))
    await release()
    assert.strictEqual(await again("SLOW"), "SLOW")
  })

  it("of the same integrations are recorded by two workers at once, whichever of them failed", async () => {
    const tenant = TenantId.make(await ledger.newTenant())
    const integrations = [await ledger.newIntegration(tenant), await ledger.newIntegration(tenant)]
    for (let n = 0; n < 20; n++) for (const sequence of [1, 2, 3]) await ledger.newEvent(tenant, `clnt_${n}`, sequence)
    await ledger.run(ledger.fanOut.fanOut((await ledger.run(ledger.outbox.assignPositions("test", 1000, ""))) ?? []))

    const claim = async () => {
      const limits = {
        pool: "NEW",
        max: 100,
        maxPerTenant: 100,
        allowanceByTenant: {},
        sendLimitByIntegration: {}
      } as const
      const { claimed } = await ledger.run(ledger.claims.claim(makeId("lease"), "", limits))
      return integrations.map((integration) => claimed.filter((each) => each.integration === integration))
    }
    const outcomeOf = ({ id, integration, lease }: ClaimedDelivery, delivered: boolean): AttemptResult => ({
      ...{ tenant, integration, id, lease, delivered, latencyMs: 1 },
      attemptedAt: new Date().toISOString(),
      nextAttemptAt: new Date().toISOString()
    })
    let attempts = 0
    for (let round = 0; round < 40; round++) {
      const claimed = await claim()
      if (round === 0) assert.isTrue(claimed.every(({ length }) => length >= 2))
      const left = await Promise.all(
        [0, 1].map((half) =>
          record(
            ...claimed.flatMap((each, which) =>
              each.filter((_, n) => n % 2 === half).map((one) => outcomeOf(one, which === half))
            )
          )
        )
      )
      assert.deepStrictEqual(left, [[], []])
      attempts += claimed.flat().length
    }
    const { rows } = await ledger.sql.query("select sum(attempts) as sum from deliveries where tenant_id = $1", [
      tenant
    ])
    assert.strictEqual(Number(rows[0]?.sum), attempts)
  })
})
