import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { initialLimit, type SendPool, sendPools } from "../../../src/domain/delivery/SendLimits.ts"
import type { ClaimLimits } from "../../../src/layers/delivery/DeliveryQueues.ts"
import { makeId } from "../../../src/layers/postgres/IdGenerator.ts"
import { countReads } from "../../support/assertions/readCounts.ts"
import {
  insertDueDeliveries,
  insertIntegrations,
  insertTenant,
  resumeIntegrations
} from "../../support/fixtures/dueDeliveries.ts"
import { makeGate } from "../../support/fixtures/tableGate.ts"
import { type DeliveryDatabase, openDeliveryDatabase } from "../../support/servers/deliveryDatabase.ts"

const limits: ClaimLimits = {
  pool: "NEW",
  max: 100,
  maxPerTenant: 100,
  allowanceByTenant: {},
  sendLimitByIntegration: {}
}

describe("claims", () => {
  let ledger: DeliveryDatabase
  beforeAll(async () => {
    ledger = await openDeliveryDatabase({ DATABASE_POOL: "1" })
  })
  afterAll(() => ledger.close())

  const claim = async (after: string, more: Partial<ClaimLimits> = {}) =>
    (await ledger.run(ledger.claims.claim(makeId("lease"), after, { ...limits, ...more }))).claimed
  const plant = async (tenant: string, count: number, latencyClass?: "PROVEN" | "SLOW") => {
    const id = await insertDueDeliveries(ledger.sql, tenant, "http://127.0.0.1", count)
    await resumeIntegrations(ledger.sql, id)
    await ledger.sql.query("update integrations set latency_class = $2 where id = $1", [id, latencyClass ?? null])
    return id
  }
  const clear = () => ledger.sql.query("delete from deliveries")
  const countBy = <A>(rows: ReadonlyArray<A>, key: (row: A) => string) => {
    const counts: Record<string, number> = {}
    for (const row of rows) counts[key(row)] = (counts[key(row)] ?? 0) + 1
    return counts
  }

  it("give each tenant no more than its allowance, and go on behind the tenant where the last one ended", async () => {
    const tenants = [
      await insertTenant(ledger.sql),
      await insertTenant(ledger.sql),
      await insertTenant(ledger.sql)
    ].sort()
    const [first = "", second = "", third = ""] = tenants
    for (const tenant of tenants) for (let n = 0; n < 4; n++) await plant(tenant, 5)
    const byTenant = (rows: Awaited<ReturnType<typeof claim>>) => countBy(rows, ({ tenant }) => tenant)
    const allowances = { maxPerTenant: 3, allowanceByTenant: { [second]: 0, [third]: 1 } }
    assert.deepStrictEqual(byTenant(await claim("", allowances)), { [first]: 3, [third]: 1 })
    assert.deepStrictEqual(byTenant(await claim("", { maxPerTenant: 2, max: 3 })), { [first]: 2, [second]: 1 })
    assert.deepStrictEqual(byTenant(await claim(second, { maxPerTenant: 2 })), { [third]: 2 })
    await clear()
  })

  it("are made for one pool each, which the database or the limit that is given tells", async () => {
    const tenant = await insertTenant(ledger.sql)
    const ids: Record<SendPool, string> = {
      PROVEN: await plant(tenant, 8, "PROVEN"),
      NEW: await plant(tenant, 8),
      SLOW: await plant(tenant, 8, "SLOW")
    }
    const slowed = await plant(tenant, 8, "PROVEN")
    const grown = await plant(tenant, 8, "PROVEN")
    const sendLimitByIntegration = { [slowed]: 1, [grown]: 7 }
    const claimed: Partial<Record<SendPool, Record<string, number>>> = {}
    for (const pool of sendPools)
      claimed[pool] = countBy(await claim("", { pool, sendLimitByIntegration }), ({ integration }) => integration)
    assert.deepStrictEqual(claimed, {
      PROVEN: { [ids.PROVEN]: initialLimit.PROVEN, [grown]: 7 },
      NEW: { [ids.NEW]: initialLimit.NEW },
      SLOW: { [ids.SLOW]: initialLimit.SLOW, [slowed]: 1 }
    })
    await clear()
  })

  it("let a busy integration keep no other of its tenant waiting", async () => {
    const tenant = await insertTenant(ledger.sql)
    const ids = [
      await plant(tenant, 40, "PROVEN"),
      await plant(tenant, 40, "PROVEN"),
      await plant(tenant, 40, "PROVEN")
    ]
    const sendLimitByIntegration = Object.fromEntries(ids.map((id) => [id, 40]))
    const served = new Set<string>()
    for (let n = 0; n < 35 && served.size < ids.length; n++)
      for (const { integration } of await claim("", {
        pool: "PROVEN",
        sendLimitByIntegration,
        maxPerTenant: 1
      }))
        served.add(integration)
    assert.strictEqual(served.size, ids.length)
    await clear()
  })

  it("lock only integrations that have something due", async () => {
    const tenant = await insertTenant(ledger.sql)
    const [due, later] = [await plant(tenant, 1), await plant(tenant, 1)]
    await ledger.sql.query("update deliveries set next_attempt_at = now() + interval '1 h' where integration_id = $1", [
      later
    ])
    const other = await ledger.sql.connect()
    await other.query("begin")
    await other.query("select 1 from delivery_queues where tenant_id = $1 and integration_id = $2 for update", [
      tenant,
      due
    ])
    assert.deepStrictEqual(await claim(""), [], "another worker counts what is in flight")
    await other.query("rollback")
    other.release()
    assert.deepStrictEqual(
      (await claim("")).map(({ integration }) => integration),
      [due]
    )
    await clear()
  })

  const readsOfClaim = async () => {
    const before = await countReads(ledger)
    assert.lengthOf(await claim(""), 1)
    return (await countReads(ledger)) - before
  }

  it.each([
    ["one tenant", 1],
    ["many tenants", 1000]
  ])("read nothing of integrations in %s that have something pending and nothing due", async (_, tenants) => {
    const tenant = await insertTenant(ledger.sql)
    const healthy = await plant(tenant, 1)
    const alone = await readsOfClaim()
    await insertIntegrations(ledger.sql, { tenants, integrations: 1000 / tenants, dueIn: "1 hour" })
    await ledger.sql.query("update deliveries set next_attempt_at = now(), lease = null where integration_id = $1", [
      healthy
    ])
    assert.isAtMost(await readsOfClaim(), alone + 20)
    await clear()
  })

  it("get past whatever is due for integrations that are paused, which costs nothing afterwards", async () => {
    const paused = await insertIntegrations(ledger.sql, { tenants: 3, integrations: 500, dueIn: "0", status: "PAUSED" })
    const tenant = await insertTenant(ledger.sql)
    await plant(tenant, 1)
    let claims = 0
    for (let after: string | undefined = ""; after !== undefined; claims++)
      after = (await ledger.run(ledger.claims.claim(makeId("lease"), after, limits))).resumeAfter
    assert.isAtMost(claims, 5)
    await plant(tenant, 1)
    assert.isAtMost(await readsOfClaim(), 50)
    await resumeIntegrations(ledger.sql, ...paused.slice(0, 2))
    assert.sameMembers(
      (await claim("")).map(({ integration }) => integration),
      paused.slice(0, 2)
    )
    await clear()
  })

  it("look again at what somebody made due while they looked", async () => {
    const tenant = await insertTenant(ledger.sql)
    const integration = await plant(tenant, 1)
    const [first] = await claim("")
    assert.strictEqual(first?.integration, integration)
    const other = await ledger.sql.connect()
    await other.query("begin")
    await other.query("update deliveries set next_attempt_at = now(), lease = null where id = $1", [first?.id])
    assert.deepStrictEqual(await claim(""), [])
    await other.query("commit")
    other.release()
    assert.lengthOf(await claim(""), 1)
    await clear()
  })

  it("are told of a resume that waited for one that took the integration for paused", async () => {
    const gate = await makeGate(ledger.sql, "delivery_queues")
    const integration = await insertDueDeliveries(ledger.sql, await insertTenant(ledger.sql), "http://127.0.0.1", 1)
    await gate.close()
    const closing = claim("")
    await gate.until(1)
    const resuming = resumeIntegrations(ledger.sql, integration)
    await gate.until(2)
    await gate.open()
    assert.deepStrictEqual(await closing, [])
    await resuming
    const { rows } = await ledger.sql.query(
      "select due_at < 'infinity' as is_due from delivery_queues where integration_id = $1",
      [integration]
    )
    assert.deepStrictEqual(rows, [{ is_due: true }])
    assert.lengthOf(await claim(""), 1)
    await clear()
  })

  it("leave out what is in flight up to the limit, and come back to it when an outcome is recorded", async () => {
    const tenant = await insertTenant(ledger.sql)
    await plant(tenant, 5)
    const claimed = await claim("")
    assert.lengthOf(claimed, initialLimit.NEW)
    assert.deepStrictEqual(await claim(""), [])
    const attempt = { attemptedAt: new Date().toISOString(), latencyMs: 1, delivered: true }
    await ledger.run(ledger.outcomes.record(claimed.map((one) => ({ ...one, ...attempt }))))
    assert.lengthOf(await claim(""), initialLimit.NEW)
    await clear()
  })
})
