import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { initialLimit, type SendPool, sendPools } from "../../../src/domain/delivery/SendLimits.ts"
import { leaseSeconds } from "../../../src/layers/delivery/Claims.ts"
import type { ClaimLimits } from "../../../src/layers/delivery/DeliveryQueues.ts"
import { makeId } from "../../../src/layers/infra/postgres/IdGenerator.ts"
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

describe("Claims.claim", () => {
  let database: DeliveryDatabase
  beforeAll(async () => {
    database = await openDeliveryDatabase({ DATABASE_POOL: "1" })
  })
  afterAll(() => database.close())

  const claim = async (after: string, more: Partial<ClaimLimits> = {}) =>
    (await database.run(database.claims.claim(makeId("lease"), after, { ...limits, ...more }))).claimed
  const insertDue = async (tenant: string, count: number, latencyClass?: "PROVEN" | "SLOW") => {
    const id = await insertDueDeliveries(database.sql, tenant, "http://127.0.0.1", count)
    await resumeIntegrations(database.sql, id)
    await database.sql.query("update integrations set latency_class = $2 where id = $1", [id, latencyClass ?? null])
    return id
  }
  const deleteDeliveries = () => database.sql.query("delete from deliveries")
  const countBy = <A>(rows: ReadonlyArray<A>, key: (row: A) => string) => {
    const counts: Record<string, number> = {}
    for (const row of rows) counts[key(row)] = (counts[key(row)] ?? 0) + 1
    return counts
  }

  it("claims at most the allowance of each tenant, and continues after the given tenant", async () => {
    const tenants = [
      await insertTenant(database.sql),
      await insertTenant(database.sql),
      await insertTenant(database.sql)
    ].sort()
    const [first = "", second = "", third = ""] = tenants
    for (const tenant of tenants) for (let n = 0; n < 4; n++) await insertDue(tenant, 5)
    const byTenant = (rows: Awaited<ReturnType<typeof claim>>) => countBy(rows, ({ tenant }) => tenant)
    const allowances = { maxPerTenant: 3, allowanceByTenant: { [second]: 0, [third]: 1 } }
    assert.deepStrictEqual(byTenant(await claim("", allowances)), { [first]: 3, [third]: 1 })
    assert.deepStrictEqual(byTenant(await claim("", { maxPerTenant: 2, max: 3 })), { [first]: 2, [second]: 1 })
    assert.deepStrictEqual(byTenant(await claim(second, { maxPerTenant: 2 })), { [third]: 2 })
    await deleteDeliveries()
  })

  it("leases a delivery for as long as a worker may send it, and claims it no more until then", async () => {
    const tenant = await insertTenant(database.sql)
    await insertDue(tenant, 1)
    assert.lengthOf(await claim(""), 1)
    const { rows } = await database.sql.query(
      `select extract(epoch from leased_until - clock.at)::integer as lease, next_attempt_at = leased_until as "isDueThen"
       from deliveries, (select now() as at) clock where tenant_id = $1`,
      [tenant]
    )
    assert.approximately(rows[0]?.lease, leaseSeconds, 5)
    assert.isTrue(rows[0]?.isDueThen)
    assert.lengthOf(await claim(""), 0)
    await deleteDeliveries()
  })

  it("claims a delivery again whose lease ran out, and notes the attempt that was lost with its time", async () => {
    const tenant = await insertTenant(database.sql)
    await insertDue(tenant, 1)
    const [first] = await claim("")
    assert.deepInclude(first, { attempts: 0, wasLost: false })
    await database.sql.query(
      `update deliveries set leased_until = '2026-01-01T01:00:00Z', next_attempt_at = '2026-01-01T01:00:00Z'
       where tenant_id = $1`,
      [tenant]
    )
    const [again] = await claim("")
    assert.strictEqual(again?.id, first?.id)
    assert.deepInclude(again, { attempts: 1, wasLost: true })
    const { rows } = await database.sql.query(
      "select number, attempted_at as at, outcome from delivery_attempts where tenant_id = $1",
      [tenant]
    )
    const at = new Date(Date.parse("2026-01-01T01:00:00Z") - leaseSeconds * 1000).toISOString()
    assert.deepStrictEqual(
      rows.map((row) => ({ ...row, at: new Date(row.at).toISOString() })),
      [{ number: 1, at, outcome: "LOST" }]
    )
    await deleteDeliveries()
  })

  it("has the secrets of an integration until they expire", async () => {
    const tenant = await insertTenant(database.sql)
    const integration = await insertDue(tenant, 1)
    const [current, replaced, expired] = [Buffer.from("current"), Buffer.from("replaced"), Buffer.from("expired")]
    await database.sql.query(
      `insert into integration_secrets (tenant_id, integration_id, generation, sealed, expires_at)
       values ($1, $2, 3, $3, null), ($1, $2, 2, $4, now() + interval '10 minutes'), ($1, $2, 1, $5, now() - interval '1 second')`,
      [tenant, integration, current, replaced, expired]
    )
    const [claimed] = await claim("")
    assert.deepStrictEqual(claimed?.secrets, [
      { generation: 3, sealed: current.toString("base64") },
      { generation: 2, sealed: replaced.toString("base64") }
    ])
    await deleteDeliveries()
  })

  it("claims the integrations of one pool, by their stored latency class or their send limit", async () => {
    const tenant = await insertTenant(database.sql)
    const ids: Record<SendPool, string> = {
      PROVEN: await insertDue(tenant, 8, "PROVEN"),
      NEW: await insertDue(tenant, 8),
      SLOW: await insertDue(tenant, 8, "SLOW")
    }
    const slowed = await insertDue(tenant, 8, "PROVEN")
    const grown = await insertDue(tenant, 8, "PROVEN")
    const sendLimitByIntegration = { [slowed]: 1, [grown]: 7 }
    const claimed: Partial<Record<SendPool, Record<string, number>>> = {}
    for (const pool of sendPools)
      claimed[pool] = countBy(await claim("", { pool, sendLimitByIntegration }), ({ integration }) => integration)
    assert.deepStrictEqual(claimed, {
      PROVEN: { [ids.PROVEN]: initialLimit.PROVEN, [grown]: 7 },
      NEW: { [ids.NEW]: initialLimit.NEW },
      SLOW: { [ids.SLOW]: initialLimit.SLOW, [slowed]: 1 }
    })
    await deleteDeliveries()
  })

  it("serves every integration of a tenant although each has a backlog", async () => {
    const tenant = await insertTenant(database.sql)
    const ids = [
      await insertDue(tenant, 40, "PROVEN"),
      await insertDue(tenant, 40, "PROVEN"),
      await insertDue(tenant, 40, "PROVEN")
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
    await deleteDeliveries()
  })

  it("skips a locked integration and ignores integrations without due deliveries", async () => {
    const tenant = await insertTenant(database.sql)
    const [due, later] = [await insertDue(tenant, 1), await insertDue(tenant, 1)]
    await database.sql.query(
      "update deliveries set next_attempt_at = now() + interval '1 h' where integration_id = $1",
      [later]
    )
    const otherWorker = await database.sql.connect()
    await otherWorker.query("begin")
    await otherWorker.query("select 1 from delivery_queues where tenant_id = $1 and integration_id = $2 for update", [
      tenant,
      due
    ])
    assert.deepStrictEqual(await claim(""), [], "another worker has locked the queue")
    await otherWorker.query("rollback")
    otherWorker.release()
    assert.deepStrictEqual(
      (await claim("")).map(({ integration }) => integration),
      [due]
    )
    await deleteDeliveries()
  })

  const countReadsOfClaim = async () => {
    const before = await countReads(database)
    assert.lengthOf(await claim(""), 1)
    return (await countReads(database)) - before
  }

  it.each([
    ["one tenant", 1],
    ["many tenants", 1000]
  ])("reads nothing of 1000 integrations of %s whose deliveries are not due yet", async (_, tenants) => {
    const tenant = await insertTenant(database.sql)
    const due = await insertDue(tenant, 1)
    const alone = await countReadsOfClaim()
    await insertIntegrations(database.sql, { tenants, integrations: 1000 / tenants, dueIn: "1 hour" })
    await database.sql.query("update deliveries set next_attempt_at = now(), lease = null where integration_id = $1", [
      due
    ])
    assert.isAtMost(await countReadsOfClaim(), alone + 20)
    await deleteDeliveries()
  })

  it("passes the due deliveries of 1500 paused integrations once, and does not read them again", async () => {
    const paused = await insertIntegrations(database.sql, {
      tenants: 3,
      integrations: 500,
      dueIn: "0",
      status: "PAUSED"
    })
    const tenant = await insertTenant(database.sql)
    await insertDue(tenant, 1)
    let claims = 0
    for (let after: string | undefined = ""; after !== undefined; claims++)
      after = (await database.run(database.claims.claim(makeId("lease"), after, limits))).resumeAfter
    assert.isAtMost(claims, 5)
    await insertDue(tenant, 1)
    assert.isAtMost(await countReadsOfClaim(), 50)
    await resumeIntegrations(database.sql, ...paused.slice(0, 2))
    assert.sameMembers(
      (await claim("")).map(({ integration }) => integration),
      paused.slice(0, 2)
    )
    await deleteDeliveries()
  })

  it("finds a delivery that became due during the previous claim", async () => {
    const tenant = await insertTenant(database.sql)
    const integration = await insertDue(tenant, 1)
    const [first] = await claim("")
    assert.strictEqual(first?.integration, integration)
    const otherWorker = await database.sql.connect()
    await otherWorker.query("begin")
    await otherWorker.query("update deliveries set next_attempt_at = now(), lease = null where id = $1", [first?.id])
    assert.deepStrictEqual(await claim(""), [])
    await otherWorker.query("commit")
    otherWorker.release()
    assert.lengthOf(await claim(""), 1)
    await deleteDeliveries()
  })

  it("finds the deliveries of an integration that is resumed while a claim treats it as paused", async () => {
    const gate = await makeGate(database.sql, "delivery_queues")
    const integration = await insertDueDeliveries(database.sql, await insertTenant(database.sql), "http://127.0.0.1", 1)
    await gate.close()
    const closing = claim("")
    await gate.untilWaiting(1)
    const resuming = resumeIntegrations(database.sql, integration)
    await gate.untilWaiting(2)
    await gate.open()
    assert.deepStrictEqual(await closing, [])
    await resuming
    const { rows } = await database.sql.query(
      "select due_at < 'infinity' as is_due from delivery_queues where integration_id = $1",
      [integration]
    )
    assert.deepStrictEqual(rows, [{ is_due: true }])
    assert.lengthOf(await claim(""), 1)
    await deleteDeliveries()
  })

  it("skips an integration at its send limit until a result is recorded", async () => {
    const tenant = await insertTenant(database.sql)
    await insertDue(tenant, 5)
    const claimed = await claim("")
    assert.lengthOf(claimed, initialLimit.NEW)
    assert.deepStrictEqual(await claim(""), [])
    const attempt = { attemptedAt: new Date().toISOString(), latencyMs: 1, delivered: true }
    await database.run(database.attemptResults.record(claimed.map((one) => ({ ...one, ...attempt }))))
    assert.lengthOf(await claim(""), initialLimit.NEW)
    await deleteDeliveries()
  })
})
