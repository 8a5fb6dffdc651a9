import { afterEach, assert, beforeEach, describe, it } from "vitest"
import type { ClaimLimits } from "../../../src/layers/delivery/DeliveryQueues.ts"
import { makeId } from "../../../src/layers/postgres/IdGenerator.ts"
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
const burst = 300
/** Look-ups and rows for one event on its way, of which there are about thirty. */
const mostReads = 60

describe("what a burst of events costs", () => {
  let ledger: DeliveryDatabase
  let tenant: string
  let integration: string
  beforeEach(async () => {
    ledger = await openDeliveryDatabase({ DATABASE_POOL: "1" })
    tenant = await ledger.newTenant()
    integration = await ledger.newIntegration(tenant)
    await ledger.sql.query("update integrations set latency_class = 'PROVEN'")
    await ledger.sql.query("analyze")
  })
  afterEach(() => ledger.close())

  /** Places, fans out, claims and records as long as there is anything to do; tells how many were delivered. */
  const work = async () => {
    const place = async () => (await ledger.run(ledger.outbox.assignPositions("test", 500, ""))) ?? []
    for (let placed = await place(); placed.length > 0; placed = await place())
      await ledger.run(ledger.fanOut.fanOut(placed.map(({ id, tenant }) => ({ id, tenant }))))
    let count = 0
    for (let isMore = true; isMore; ) {
      const { claimed } = await ledger.run(
        ledger.claims.claim(makeId("lease"), "", { ...limits, sendLimitByIntegration: { [integration]: 64 } })
      )
      const attempt = { attemptedAt: new Date().toISOString(), latencyMs: 1, delivered: true }
      await ledger.run(ledger.outcomes.record(claimed.map((one) => ({ ...one, ...attempt }))))
      count += claimed.length
      isMore = claimed.length > 0
    }
    return count
  }

  const add = (events: number) =>
    ledger.sql.query(
      `insert into events (tenant_id, id, type, resource_id, sequence, occurred_at, data)
       select $1, $2 || n, 'client.updated', $2 || n / 3, n, now(), '{}' from generate_series(1, $3) n`,
      [tenant, makeId("evt"), events]
    )

  /** Of one event. */
  const reads = async (events = burst) => {
    await add(events)
    const before = await countReads(ledger)
    assert.strictEqual(await work(), events)
    return ((await countReads(ledger)) - before) / events
  }

  it("does not grow with a history that was analyzed when nothing waited", { timeout: 60_000 }, async () => {
    const fresh = await reads()
    await insertEventHistory(ledger.sql, { tenant, integration, events: 10_000 })
    await ledger.sql.query("analyze")
    const restore = outlivePlans()
    assert.isAtMost(await reads(), 1.5 * fresh)
    restore()
  })

  it("does not grow with the events that come with it", { timeout: 60_000 }, async () => {
    const fresh = await reads()
    assert.isAtMost(fresh, mostReads)
    const restore = outlivePlans()
    assert.isAtMost(await reads(10 * burst), 1.5 * fresh)
    restore()
  })

  it("does not grow with tables that were empty when all was planned", { timeout: 60_000 }, async () => {
    // More often than it takes for a plan to be kept.
    for (let n = 0; n < 8; n++) {
      await add(1)
      assert.strictEqual(await work(), 1)
    }
    const fresh = await reads()
    await insertEventHistory(ledger.sql, { tenant, integration, events: 10_000 })
    const restore = outlivePlans()
    assert.isAtMost(await reads(), 1.5 * fresh)
    restore()
  })
})
