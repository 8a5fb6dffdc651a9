import { afterEach, assert, beforeEach, describe, it } from "vitest"
import type { ClaimLimits } from "../../../src/layers/delivery/DeliveryQueues.ts"
import { makeId } from "../../../src/layers/infra/postgres/IdGenerator.ts"
import { outlivePlans } from "../../support/assertions/queryPlans.ts"
import { countReads } from "../../support/assertions/readCounts.ts"
import { insertEventHistory } from "../../support/fixtures/eventHistory.ts"
import { type DeliveryDatabase, openDeliveryDatabase } from "../../support/servers/deliveryDatabase.ts"

const limits: ClaimLimits = {
  pool: "PROVEN",
  max: 100,
  maxPerTenant: 100,
  allowanceByTenant: {},
  sendLimitByIntegration: {}
}
const burst = 200
/** Maximum of index scans and rows read per delivered event; about thirty are normal. */
const maxReads = 60

describe("The database reads per delivered event", () => {
  let database: DeliveryDatabase
  let tenant: string
  let integration: string
  beforeEach(async () => {
    database = await openDeliveryDatabase({ DATABASE_POOL: "1" })
    tenant = await database.newTenant()
    integration = await database.newIntegration(tenant)
    await database.sql.query("update integrations set latency_class = 'PROVEN'")
    await database.sql.query("analyze")
  })
  afterEach(() => database.close())

  /** Delivers all events; returns how many. */
  const deliverAll = async () => {
    const assignPositions = async () => (await database.run(database.outbox.assignPositions("test", 500, ""))) ?? []
    for (let events = await assignPositions(); events.length > 0; events = await assignPositions())
      await database.run(database.fanOut.fanOut(events.map(({ id, tenant }) => ({ id, tenant }))))
    let count = 0
    for (let isMore = true; isMore; ) {
      const { claimed } = await database.run(
        database.claims.claim(makeId("lease"), "", { ...limits, sendLimitByIntegration: { [integration]: 64 } })
      )
      const attempt = { attemptedAt: new Date().toISOString(), latencyMs: 1, delivered: true }
      await database.run(database.attemptResults.record(claimed.map((one) => ({ ...one, ...attempt }))))
      count += claimed.length
      isMore = claimed.length > 0
    }
    return count
  }

  const insertEvents = (events: number) =>
    database.sql.query(
      `insert into events (tenant_id, id, type, resource_id, sequence, occurred_at, data)
       select $1, $2 || n, 'client.updated', $2 || n / 3, n, now(), '{}' from generate_series(1, $3) n`,
      [tenant, makeId("evt"), events]
    )

  const countReadsPerEvent = async (events = burst) => {
    await insertEvents(events)
    const before = await countReads(database)
    assert.strictEqual(await deliverAll(), events)
    return ((await countReads(database)) - before) / events
  }

  it("do not grow with a delivered history that was analyzed while the queues were empty", {
    timeout: 60_000
  }, async () => {
    const fresh = await countReadsPerEvent()
    await insertEventHistory(database.sql, { tenant, integration, events: 8_000 })
    await database.sql.query("analyze")
    const restore = outlivePlans()
    assert.isAtMost(await countReadsPerEvent(), 1.5 * fresh)
    restore()
  })

  it("do not grow with the number of events after a few delivered ones were analyzed", {
    timeout: 60_000
  }, async () => {
    const fresh = await countReadsPerEvent()
    await database.sql.query("analyze")
    const restore = outlivePlans()
    assert.isAtMost(await countReadsPerEvent(10 * burst), 1.5 * fresh)
    restore()
  })

  it("do not grow with the number of events", { timeout: 60_000 }, async () => {
    const fresh = await countReadsPerEvent()
    assert.isAtMost(fresh, maxReads)
    const restore = outlivePlans()
    assert.isAtMost(await countReadsPerEvent(10 * burst), 1.5 * fresh)
    restore()
  })

  it("stay below the limit once the plans of empty tables have expired", { timeout: 60_000 }, async () => {
    // PostgreSQL keeps a generic plan after five executions.
    for (let n = 0; n < 8; n++) {
      await insertEvents(1)
      assert.strictEqual(await deliverAll(), 1)
    }
    await insertEventHistory(database.sql, { tenant, integration, events: 8_000 })
    const restore = outlivePlans()
    assert.isAtMost(await countReadsPerEvent(), maxReads)
    restore()
  })
})
