import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { SendPool } from "../../../src/domain/delivery/SendLimits.ts"
import { TenantId } from "../../../src/domain/tenancy/Tenant.ts"
import type { AttemptResult } from "../../../src/layers/delivery/AttemptResults.ts"
import type { ClaimedDelivery } from "../../../src/layers/delivery/Claims.ts"
import { makeId } from "../../../src/layers/infra/postgres/IdGenerator.ts"
import { insertDelivery } from "../../support/fixtures/deliveryRows.ts"
import { type DeliveryDatabase, openDeliveryDatabase } from "../../support/servers/deliveryDatabase.ts"

describe("AttemptResults.record", () => {
  let database: DeliveryDatabase
  beforeAll(async () => {
    database = await openDeliveryDatabase()
  })
  afterAll(() => database.close())

  /** The successful result of an attempt in progress. */
  const makeResult = async (more: Partial<AttemptResult> = {}): Promise<AttemptResult> => {
    const tenant = TenantId.make(await database.newTenant())
    const integration = await database.newIntegration(tenant)
    const lease = "lease_test"
    const id = await insertDelivery(database.sql, tenant, integration, { status: "PENDING", attempts: 0, lease })
    const attemptedAt = new Date().toISOString()
    return { tenant, integration, id, lease, delivered: true, attemptedAt, latencyMs: 1, status: 200, ...more }
  }
  const record = (...results: ReadonlyArray<AttemptResult>) => database.run(database.attemptResults.record(results))
  const statusOf = async ({ id }: AttemptResult) =>
    (await database.sql.query<{ status: string }>("select status from deliveries where id = $1", [id])).rows[0]?.status
  const latencyClassOf = async ({ integration }: AttemptResult) =>
    (await database.sql.query("select latency_class from integrations where id = $1", [integration])).rows[0]
      ?.latency_class
  const lockWith = async (statement: string, value: string) => {
    const connection = await database.sql.connect()
    await connection.query("begin")
    await connection.query(statement, [value])
    return async () => {
      await connection.query("rollback")
      connection.release()
    }
  }

  it.each<[string, string, (result: AttemptResult) => string]>([
    [
      "delivery order",
      "select pg_advisory_xact_lock(hashtextextended($1, 0))",
      ({ integration, tenant }) => `deliveries ${tenant} ${integration}`
    ],
    ["delivery row", "select 1 from deliveries where id = $1 for update", ({ id }) => id]
  ])("returns a result whose %s is locked and records the other results", async (_, statement, valueOf) => {
    const [one, other] = [await makeResult(), await makeResult()]
    const release = await lockWith(statement, valueOf(other))
    assert.deepStrictEqual(await record(one, other), [other])
    assert.deepStrictEqual([await statusOf(one), await statusOf(other)], ["DELIVERED", "PENDING"])
    await release()
    assert.deepStrictEqual(await record(other), [])
    assert.strictEqual(await statusOf(other), "DELIVERED")
  })

  it("drops the result of a lost lease and of a deleted delivery", async () => {
    const [withLostLease, deleted] = [await makeResult({ lease: "another" }), await makeResult()]
    await database.sql.query("delete from deliveries where id = $1", [deleted.id])
    assert.deepStrictEqual(await record(withLostLease, deleted), [])
    assert.strictEqual(await statusOf(withLostLease), "PENDING")
  })

  it("strips NUL characters and replaces lone surrogates", async () => {
    const result = await makeResult({
      delivered: false,
      body: "a\u0000b\ud800c",
      error: "\udfff\u0000broken",
      stopReason: "\u0000",
      pool: "SLOW"
    })
    assert.deepStrictEqual(await record(result), [])
    const { rows } = await database.sql.query(
      "select response_body, error from delivery_attempts where delivery_id = $1",
      [result.id]
    )
    assert.deepStrictEqual(rows, [{ response_body: "ab\ufffdc", error: "\ufffdbroken" }])
    assert.strictEqual(await latencyClassOf(result), "SLOW")
  })

  it("saves the latency class of the integration unless the integration is locked", async () => {
    const first = await makeResult()
    const recordPool = async (pool: SendPool | undefined) => {
      await record({ ...first, pool })
      return latencyClassOf(first)
    }
    assert.deepStrictEqual(
      [await recordPool("PROVEN"), await recordPool(undefined), await recordPool("SLOW"), await recordPool("NEW")],
      ["PROVEN", "PROVEN", "SLOW", null]
    )
    const release = await lockWith("select 1 from integrations where id = $1 for update", first.integration)
    assert.isNull(await recordPool("SLOW"))
    await release()
    assert.strictEqual(await recordPool("SLOW"), "SLOW")
  })

  it("keeps the error and the next attempt of each of several failed deliveries", async () => {
    const failing = [
      { error: "refused", nextAttemptAt: "2031-01-01T00:00:00.000Z" },
      { error: "too slow", nextAttemptAt: "2032-02-02T00:00:00.000Z" }
    ]
    const results = await Promise.all(failing.map((failure) => makeResult({ delivered: false, ...failure })))
    assert.deepStrictEqual(await record(...results), [])
    const { rows } = await database.sql.query<{ error: string; next_attempt_at: Date }>(
      "select error, next_attempt_at from deliveries where id = any ($1) order by next_attempt_at",
      [results.map(({ id }) => id)]
    )
    assert.deepStrictEqual(
      rows.map((row) => ({ error: row.error, nextAttemptAt: row.next_attempt_at.toISOString() })),
      failing
    )
  })

  it("notes since when one integration fails, whatever others of its tenant do, until it works again", async () => {
    const first = await makeResult({ delivered: false })
    const other = await database.newIntegration(first.tenant)
    const healthOf = async (integration: string) =>
      (await database.sql.query("select failing_since, xmin from all_integrations where id = $1", [integration]))
        .rows[0]
    const sibling = await healthOf(other)
    await record(first)
    const failing = await healthOf(first.integration)
    assert.instanceOf(failing?.failing_since, Date)
    await record(first)
    assert.deepStrictEqual(await healthOf(first.integration), failing)
    assert.deepStrictEqual(await healthOf(other), sibling)
    await record({ ...first, pool: "SLOW" })
    assert.deepStrictEqual((await healthOf(first.integration))?.failing_since, failing?.failing_since)
    await record({ ...first, delivered: true })
    const working = await healthOf(first.integration)
    assert.isNull(working?.failing_since)
    await record({ ...first, delivered: true })
    assert.deepStrictEqual(await healthOf(first.integration), working)
  })

  it("counts every attempt when two workers record results of the same integrations concurrently", async () => {
    const tenant = TenantId.make(await database.newTenant())
    const integrations = [await database.newIntegration(tenant), await database.newIntegration(tenant)]
    for (let n = 0; n < 20; n++)
      for (const sequence of [1, 2, 3]) await database.newEvent(tenant, `clnt_${n}`, sequence)
    await database.run(
      database.fanOut.fanOut((await database.run(database.outbox.assignPositions("test", 1000, ""))) ?? [])
    )

    const claim = async () => {
      const limits = {
        pool: "NEW",
        max: 100,
        maxPerTenant: 100,
        allowanceByTenant: {},
        sendLimitByIntegration: {}
      } as const
      const { claimed } = await database.run(database.claims.claim(makeId("lease"), "", limits))
      return integrations.map((integration) => claimed.filter((each) => each.integration === integration))
    }
    const resultOf = ({ id, integration, lease }: ClaimedDelivery, delivered: boolean): AttemptResult => ({
      ...{ tenant, integration, id, lease, delivered, latencyMs: 1 },
      attemptedAt: new Date().toISOString(),
      nextAttemptAt: new Date().toISOString()
    })
    let attempts = 0
    for (let round = 0; round < 20; round++) {
      const claimed = await claim()
      if (round === 0) assert.isTrue(claimed.every(({ length }) => length >= 2))
      const unrecorded = await Promise.all(
        [0, 1].map((half) =>
          record(
            ...claimed.flatMap((each, which) =>
              each.filter((_, n) => n % 2 === half).map((one) => resultOf(one, which === half))
            )
          )
        )
      )
      assert.deepStrictEqual(unrecorded, [[], []])
      attempts += claimed.flat().length
    }
    const { rows } = await database.sql.query("select sum(attempts) as sum from deliveries where tenant_id = $1", [
      tenant
    ])
    assert.strictEqual(Number(rows[0]?.sum), attempts)
  })
})
