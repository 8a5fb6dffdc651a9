import { SqlClient } from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "vitest"
import { type EventCursor, makeEventRetention } from "../../../../src/layers/delivery/retention/EventRetention.ts"
import { countDeletes } from "../../../support/assertions/deleteCounts.ts"
import { insertDelivery, insertEventRow } from "../../../support/fixtures/deliveryRows.ts"
import { type DeliveryDatabase, openDeliveryDatabase } from "../../../support/servers/deliveryDatabase.ts"

const limits = { maxEvents: 10, maxDeliveries: 20, maxAttempts: 15 }
const daysAgo = (days: number) => new Date(Date.now() - days * 24 * 60 * 60 * 1000).toISOString()

describe("EventRetention", { timeout: 60_000 }, () => {
  let database: DeliveryDatabase
  let retention: ReturnType<typeof makeEventRetention>
  let tenant: string
  let integration: string
  beforeAll(async () => {
    database = await openDeliveryDatabase()
    retention = await database.runIn(Effect.map(SqlClient, (sql) => makeEventRetention(sql, 30, limits)))
  })
  afterAll(() => database.close())
  beforeEach(async () => {
    tenant = await database.newTenant()
    integration = await database.newIntegration(tenant)
  })

  /** Deletes batches until the end; returns the cursors in between. */
  const deleteAll = async () => {
    const cursors: Array<EventCursor> = []
    for (;;) {
      const cursor: EventCursor | undefined = await database.run(retention.deleteNextBatch(cursors.at(-1)))
      if (cursor === undefined) return cursors
      cursors.push(cursor)
      assert.isBelow(cursors.length, 200, "the deletion does not end")
    }
  }
  const countOf = async (table: string) => {
    const { rows } = await database.sql.query(`select count(*)::int from ${table} where tenant_id = $1`, [tenant])
    return Number(rows[0]?.count)
  }
  const deleteEvents = () => database.sql.query("delete from events where tenant_id = $1", [tenant])

  it("visits each event with pending deliveries once and deletes the events after them", async () => {
    const range = (length: number) => Array.from({ length }, (_, n) => n)
    await Promise.all([
      ...range(45).map((n) =>
        insertDelivery(database.sql, tenant, integration, { at: daysAgo(90 - n / 100), status: "PENDING" })
      ),
      ...range(30).map((n) => insertEventRow(database.sql, tenant, { at: daysAgo(40 - n / 100) }))
    ])
    const cursors = await deleteAll()
    assert.strictEqual(await countOf("events"), 45)
    assert.lengthOf(cursors, 7)
    assert.deepStrictEqual(
      cursors,
      [...cursors].sort((a, b) => (a.occurredAt < b.occurredAt ? -1 : 1))
    )
    await deleteEvents()
  })

  it("deletes events that are older than its days, to the minute", async () => {
    const minutes = 10 / (24 * 60)
    const kept = await insertEventRow(database.sql, tenant, { at: daysAgo(30 - minutes) })
    await insertEventRow(database.sql, tenant, { at: daysAgo(30 + minutes) })
    await deleteAll()
    const { rows } = await database.sql.query("select id from events where tenant_id = $1", [tenant])
    assert.deepStrictEqual(rows, [{ id: kept }])
    await deleteEvents()
  })

  it("deletes events of the same timestamp one after the other", async () => {
    const at = daysAgo(40)
    for (let n = 0; n < 25; n++) await insertEventRow(database.sql, tenant, { at, fannedOut: n % 2 === 0 })
    await deleteAll()
    assert.strictEqual(await countOf("events"), 12)
    await deleteEvents()
  })

  /** Inserts deliveries of an event to so many new integrations. */
  const insertDeliveries = async (event: string, count: number, status: string) => {
    const receivers = await Promise.all(Array.from({ length: count }, () => database.newIntegration(tenant)))
    await database.sql.query(
      `insert into deliveries (tenant_id, id, integration_id, event_id, event_type, resource_id, sequence, status,
         next_attempt_at, created_at, updated_at)
       select $1, 'dlv_' || receiver, receiver, id, type, resource_id, sequence, $4, now(), now(), now()
       from events, unnest($2::text[]) receiver where tenant_id = $1 and id = $3`,
      [tenant, receivers, event, status]
    )
    await database.sql.query(
      `insert into delivery_attempts (tenant_id, delivery_id, number, attempted_at, outcome)
       select tenant_id, id, number, now(), 'FAILED' from deliveries, generate_series(1, 3) number
       where tenant_id = $1 and event_id = $2 on conflict do nothing`,
      [tenant, event]
    )
  }

  it("deletes an event with many deliveries in small transactions, and the events before and after it", async () => {
    const [event] = [
      await insertEventRow(database.sql, tenant, { at: daysAgo(41) }),
      await insertEventRow(database.sql, tenant, { at: daysAgo(42) }),
      await insertEventRow(database.sql, tenant, { at: daysAgo(40) })
    ]
    await insertDeliveries(event, 70, "DELIVERED")
    const recent = await insertEventRow(database.sql, tenant, { at: daysAgo(1) })
    await insertDeliveries(recent, 2, "DELIVERED")
    const deletes = await countDeletes(database.sql, "deliveries", "delivery_attempts")
    await deleteAll()
    assert.deepStrictEqual([await countOf("events"), await countOf("deliveries")], [1, 2])
    assert.strictEqual(await countOf("delivery_attempts"), 6)
    const [deliveries, attempts] = [await deletes.noted("deliveries"), await deletes.noted("delivery_attempts")]
    await deletes.stop()
    assert.deepInclude(deliveries, { sum: 70 })
    assert.deepInclude(attempts, { sum: 210 })
    assert.isAtMost(deliveries.max, limits.maxDeliveries)
    assert.isAtMost(attempts.max, limits.maxAttempts)
    await deleteEvents()
  })

  it("keeps an event with one pending delivery, and all its deliveries and attempts", async () => {
    const event = await insertEventRow(database.sql, tenant, { at: daysAgo(41) })
    const newer = await insertEventRow(database.sql, tenant, { at: daysAgo(40) })
    await insertDeliveries(event, 60, "DELIVERED")
    await insertDeliveries(event, 1, "PENDING")
    await deleteAll()
    assert.deepStrictEqual([await countOf("events"), await countOf("deliveries")], [1, 61])
    assert.strictEqual(await countOf("delivery_attempts"), 61 * 3)
    const { rows } = await database.sql.query("select 1 from events where id = $1", [newer])
    assert.lengthOf(rows, 0)
  })
})
