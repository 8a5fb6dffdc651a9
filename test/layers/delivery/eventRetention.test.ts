import { SqlClient } from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "vitest"
import { type EventCursor, makeEventRetention } from "../../../src/layers/delivery/EventRetention.ts"
import { countDeletes } from "../../support/assertions/deleteCounts.ts"
import { insertDelivery, insertEventRow } from "../../support/fixtures/deliveryRows.ts"
import { type DeliveryDatabase, openDeliveryDatabase } from "../../support/servers/deliveryDatabase.ts"

const limits = { maxEvents: 10, maxDeliveries: 20, maxAttempts: 15 }
const daysAgo = (days: number) => new Date(Date.now() - days * 24 * 60 * 60 * 1000).toISOString()

describe("retention of events", { timeout: 60_000 }, () => {
  let ledger: DeliveryDatabase
  let retention: ReturnType<typeof makeEventRetention>
  let tenant: string
  let integration: string
  beforeAll(async () => {
    ledger = await openDeliveryDatabase()
    retention = await ledger.runIn(Effect.map(SqlClient, (sql) => makeEventRetention(sql, 30, limits)))
  })
  afterAll(() => ledger.close())
  beforeEach(async () => {
    tenant = await ledger.newTenant()
    integration = await ledger.newIntegration(tenant)
  })

  /** Every place a walk over all old events comes to. */
  const walk = async () => {
    const places: Array<EventCursor> = []
    for (;;) {
      const place: EventCursor | undefined = await ledger.run(retention.deleteNextBatch(places.at(-1)))
      if (place === undefined) return places
      places.push(place)
      assert.isBelow(places.length, 200, "the walk goes on for ever")
    }
  }
  const countOf = async (table: string) => {
    const { rows } = await ledger.sql.query(`select count(*)::int from ${table} where tenant_id = $1`, [tenant])
    return Number(rows[0]?.count)
  }
  const clear = () => ledger.sql.query("delete from events where tenant_id = $1", [tenant])

  it("passes each event that is kept once, and forgets what lies behind", async () => {
    for (let n = 0; n < 45; n++)
      await insertDelivery(ledger.sql, tenant, integration, { at: daysAgo(90 - n / 100), status: "PENDING" })
    for (let n = 0; n < 30; n++) await insertEventRow(ledger.sql, tenant, { at: daysAgo(40 - n / 100) })
    const places = await walk()
    assert.strictEqual(await countOf("events"), 45)
    assert.lengthOf(places, 7)
    assert.deepStrictEqual(
      places,
      [...places].sort((a, b) => (a.occurredAt < b.occurredAt ? -1 : 1))
    )
    await clear()
  })

  it("looks at those of the same moment one after the other", async () => {
    const at = daysAgo(40)
    for (let n = 0; n < 25; n++) await insertEventRow(ledger.sql, tenant, { at, fannedOut: n % 2 === 0 })
    await walk()
    assert.strictEqual(await countOf("events"), 12)
    await clear()
  })

  /** Tells so many more integrations of an event. */
  const tellMany = async (event: string, count: number, status: string) => {
    for (let n = 0; n < count; n++) {
      const told = await ledger.newIntegration(tenant)
      await ledger.sql.query(
        `insert into deliveries (tenant_id, id, integration_id, event_id, event_type, resource_id, sequence, status,
           next_attempt_at, created_at, updated_at)
         select $1, 'dlv_' || $2::text, $2, id, type, resource_id, sequence, $4, now(), now(), now() from events
         where tenant_id = $1 and id = $3`,
        [tenant, told, event, status]
      )
    }
    await ledger.sql.query(
      `insert into delivery_attempts (tenant_id, delivery_id, number, attempted_at, outcome)
       select tenant_id, id, number, now(), 'FAILED' from deliveries, generate_series(1, 3) number
       where tenant_id = $1 and event_id = $2 on conflict do nothing`,
      [tenant, event]
    )
  }

  it("forgets an event that many were told of in small transactions, and the others around it", async () => {
    const [event] = [
      await insertEventRow(ledger.sql, tenant, { at: daysAgo(41) }),
      await insertEventRow(ledger.sql, tenant, { at: daysAgo(42) }),
      await insertEventRow(ledger.sql, tenant, { at: daysAgo(40) })
    ]
    await tellMany(event, 70, "DELIVERED")
    const watch = await countDeletes(ledger.sql, "deliveries", "delivery_attempts")
    await walk()
    assert.deepStrictEqual([await countOf("events"), await countOf("deliveries")], [0, 0])
    const [deliveries, attempts] = [await watch.noted("deliveries"), await watch.noted("delivery_attempts")]
    await watch.stop()
    assert.deepInclude(deliveries, { sum: 70 })
    assert.deepInclude(attempts, { sum: 210 })
    assert.isAtMost(deliveries.max, limits.maxDeliveries)
    assert.isAtMost(attempts.max, limits.maxAttempts)
  })

  it("keeps an event of which one of many has to be told yet, with all that hangs on it", async () => {
    const event = await insertEventRow(ledger.sql, tenant, { at: daysAgo(41) })
    const behind = await insertEventRow(ledger.sql, tenant, { at: daysAgo(40) })
    await tellMany(event, 60, "DELIVERED")
    await tellMany(event, 1, "PENDING")
    await walk()
    assert.deepStrictEqual([await countOf("events"), await countOf("deliveries")], [1, 61])
    assert.strictEqual(await countOf("delivery_attempts"), 61 * 3)
    const { rows } = await ledger.sql.query("select 1 from events where id = $1", [behind])
    assert.lengthOf(rows, 0)
  })
})
