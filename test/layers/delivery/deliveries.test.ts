import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { initialLimit } from "../../../src/domain/delivery/SendLimits.ts"
import type { AttemptResult } from "../../../src/layers/delivery/AttemptResults.ts"
import type { ClaimedDelivery } from "../../../src/layers/delivery/Claims.ts"
import type { ClaimLimits } from "../../../src/layers/delivery/DeliveryQueues.ts"
import { makeId } from "../../../src/layers/infra/postgres/IdGenerator.ts"
import { type DeliveryDatabase, openDeliveryDatabase } from "../../support/servers/deliveryDatabase.ts"

const limits: ClaimLimits = {
  pool: "NEW",
  max: 50,
  maxPerTenant: 50,
  allowanceByTenant: {},
  sendLimitByIntegration: {}
}

const resultOf = (
  { id, integration, lease, tenant }: ClaimedDelivery,
  delivered: boolean,
  nextAttempt = new Date()
): AttemptResult => ({
  tenant,
  integration,
  id,
  lease,
  delivered,
  attemptedAt: new Date().toISOString(),
  latencyMs: 1,
  status: delivered ? 200 : 500,
  nextAttemptAt: delivered ? undefined : nextAttempt.toISOString()
})

describe("Event delivery", () => {
  let database: DeliveryDatabase
  beforeAll(async () => {
    database = await openDeliveryDatabase()
  })
  afterAll(() => database.close())

  const assignPositions = async () => (await database.run(database.outbox.assignPositions("test", 1000, ""))) ?? []
  const claim = async () => (await database.run(database.claims.claim(makeId("lease"), "", limits))).claimed
  const fanOut = (keys: ReadonlyArray<{ tenant: string; id: string }>) => database.run(database.fanOut.fanOut(keys))
  const record = async (...results: ReadonlyArray<AttemptResult>) => {
    for (let left = results; left.length > 0; ) left = await database.run(database.attemptResults.record(left))
  }
  const statusesOf = async (integration: string) => {
    const { rows } = await database.sql.query(
      "select resource_id, sequence, status from deliveries where integration_id = $1 order by 1, 2",
      [integration]
    )
    return rows.map(({ status }) => status)
  }

  it("assigns feed positions once per event, in commit order, and only for the holder of the lease", async () => {
    const tenant = await database.newTenant()
    const first = await database.newEvent(tenant, "clnt_1", 1)
    const second = await database.newEvent(tenant, "clnt_1", 2)
    assert.deepStrictEqual(
      (await assignPositions()).map(({ id }) => id),
      [first, second]
    )
    assert.deepStrictEqual(await assignPositions(), [])
    assert.isUndefined(await database.run(database.outbox.assignPositions("another worker", 10, "")))
    await database.run(database.outbox.releaseLease("test"))
    assert.deepStrictEqual(await database.run(database.outbox.assignPositions("another worker", 10, "")), [])
    assert.isUndefined(await database.run(database.outbox.assignPositions("test", 10, "")))
    await database.run(database.outbox.releaseLease("another worker"))
  })

  it("drops the outbox entry of a deleted event and assigns positions to the others", async () => {
    const tenants = [await database.newTenant(), await database.newTenant(), await database.newTenant()].sort()
    const events: Array<string> = []
    for (const tenant of tenants)
      for (const n of [1, 2]) events.push(await database.newEvent(tenant, `clnt_${tenant}`, n))
    const deleted = events[2]
    await database.sql.query("delete from events where id = $1", [deleted])
    assert.sameMembers(
      (await assignPositions()).map(({ id }) => id),
      events.filter((id) => id !== deleted)
    )
    const { rows } = await database.sql.query(
      `select (select count(*) from event_feed where event_id = any ($1))::int as positioned,
         (select count(*) from outbox)::int as waiting`,
      [events]
    )
    assert.deepStrictEqual(rows, [{ positioned: 5, waiting: 0 }])
    assert.deepStrictEqual(await assignPositions(), [])
  })

  it("shares a batch of the outbox fairly among tenants and keeps the order of each tenant", async () => {
    const [many, few, another] = [await database.newTenant(), await database.newTenant(), await database.newTenant()]
    const manyEvents: Array<string> = []
    for (let n = 1; n <= 30; n++) manyEvents.push(await database.newEvent(many, "clnt_many", n))
    const fewEvents = [await database.newEvent(few, "clnt_few", 1), await database.newEvent(another, "clnt_another", 1)]
    const batch = async (after = "") => (await database.run(database.outbox.assignPositions("test", 12, after))) ?? []
    const first = await batch()
    assert.sameMembers(
      first.map(({ id }) => id),
      [...manyEvents.slice(0, 4), ...fewEvents]
    )
    // A single tenant gets the whole batch.
    assert.deepStrictEqual(
      (await batch()).map(({ id }) => id),
      manyEvents.slice(4, 16)
    )
    assert.deepStrictEqual(await batch(many), [])
    assert.deepStrictEqual(
      [...(await batch()), ...(await batch())].map(({ id }) => id),
      manyEvents.slice(16)
    )
  })

  it("assigns a position to an event whose transaction commits late", async () => {
    const tenant = await database.newTenant()
    const late = await database.sql.connect()
    await late.query("begin")
    await late.query(
      `insert into events (tenant_id, id, type, resource_id, sequence, occurred_at, data)
       values ($1, 'evt_late', 'client.created', 'clnt_late', 1, now(), '{}')`,
      [tenant]
    )
    const committed = await database.newEvent(tenant, "clnt_committed", 1)
    assert.deepStrictEqual(
      (await assignPositions()).map(({ id }) => id),
      [committed]
    )
    await late.query("commit")
    late.release()
    assert.deepStrictEqual(
      (await assignPositions()).map(({ id }) => id),
      ["evt_late"]
    )
  })

  it("fans out and delivers the events of one resource in order", async () => {
    const tenant = await database.newTenant()
    const integration = await database.newIntegration(tenant)
    for (const sequence of [1, 2, 3]) await database.newEvent(tenant, "clnt_1", sequence)
    const [first, second, third] = await assignPositions()
    assert(first && second && third)
    const another = await database.sql.connect()
    await another.query("begin")
    await another.query("select 1 from event_feed where event_id = $1 for update", [first.id])
    assert.deepStrictEqual([...(await fanOut([second, third])).done], [], "another worker has locked the first event")
    await another.query("rollback")
    another.release()
    assert.sameMembers(
      [...(await fanOut([second])).done],
      [first.id, second.id],
      "earlier events of the resource are fanned out too"
    )
    assert.deepStrictEqual((await fanOut([third, second, first])).done.size, 3)
    assert.deepStrictEqual(await statusesOf(integration), ["PENDING", "WAITING", "WAITING"])

    const [head, ...others] = await claim()
    assert(head)
    assert.deepStrictEqual([head.sequence, others.length], [1, 0])
    assert.deepStrictEqual(await claim(), [], "the first delivery is in flight")
    await record(resultOf(head, false))
    assert.deepStrictEqual(
      (await claim()).map(({ sequence }) => sequence),
      [1],
      "the failed delivery is retried before the next one"
    )
    await record(resultOf(head, true))
    assert.deepStrictEqual(await statusesOf(integration), ["PENDING", "WAITING", "WAITING"], "the lease has changed")
  })

  it("keeps deliveries of a paused integration, and limits the deliveries in flight per integration", async () => {
    const tenant = await database.newTenant()
    const integration = await database.newIntegration(tenant, { status: "PAUSED" })
    for (let n = 0; n < 20; n++) await database.newEvent(tenant, `clnt_${n}`, 1)
    await fanOut(await assignPositions())
    assert.deepStrictEqual(await claim(), [])
    await database.sql.query("update integrations set status = 'ACTIVE' where id = $1", [integration])
    const claimMine = async () => (await claim()).filter((claimed) => claimed.integration === integration)
    const claimed = await claimMine()
    assert.strictEqual(claimed.length, initialLimit.NEW)
    assert.strictEqual((await claimMine()).length, 0)
    const [one] = claimed
    assert(one)
    await record(resultOf(one, true))
    assert.strictEqual((await claimMine()).length, 1)
    await database.sql.query("update integrations set failing_since = now() where id = $1", [integration])
    await record(...claimed.slice(1).map((each) => resultOf(each, false, new Date(Date.now() + 60_000))))
    assert.strictEqual((await claimMine()).length, 0, "a failing integration has one delivery in flight")
  })

  it("retries a delivery whose lease expired, and records the attempt as LOST", async () => {
    const tenant = await database.newTenant()
    await database.newIntegration(tenant)
    await database.newEvent(tenant, "clnt_1", 1)
    await fanOut(await assignPositions())
    const claimMine = async () => (await claim()).find((claimed) => claimed.tenant === tenant)
    const lost = await claimMine()
    assert(lost)
    await database.sql.query(
      "update deliveries set leased_until = now() - interval '1 s', next_attempt_at = now() where id = $1",
      [lost.id]
    )
    const again = await claimMine()
    assert(again)
    assert.strictEqual(again.attempts, 1)
    await record(resultOf(lost, true), resultOf(again, true))
    const { rows } = await database.sql.query(
      "select number, outcome from delivery_attempts where delivery_id = $1 order by number",
      [lost.id]
    )
    assert.deepStrictEqual(rows, [
      { number: 1, outcome: "LOST" },
      { number: 2, outcome: "DELIVERED" }
    ])
  })

  it("delivers a ping to its own integration only, without a subscription", async () => {
    const tenant = await database.newTenant()
    const [one, other] = [await database.newIntegration(tenant), await database.newIntegration(tenant)]
    await database.newEvent(tenant, one, 2, "integration.ping")
    await fanOut(await assignPositions())
    assert.deepStrictEqual([await statusesOf(one), await statusesOf(other)], [["PENDING"], []])
  })

  it("delivers every event of each resource once and in order with concurrent writers and workers", async () => {
    const tenant = await database.newTenant()
    const integrations = [await database.newIntegration(tenant), await database.newIntegration(tenant)]
    const resources = Array.from({ length: 6 }, (_, n) => `clnt_${n}`)
    const each = 12
    const deliveredSequences = new Map<string, Array<number>>()
    let written = 0
    const total = resources.length * each * integrations.length
    let finished = 0

    const write = async (resource: string) => {
      for (let sequence = 1; sequence <= each; sequence++) {
        await database.newEvent(tenant, resource, sequence)
        written++
      }
    }
    const fanOutAll = async () => {
      const open: Array<{ tenant: string; id: string }> = []
      while (finished < total) {
        open.push(...(await assignPositions()))
        const batch = open.splice(0, 1 + Math.floor(Math.random() * 20)).sort(() => Math.random() - 0.5)
        if (batch.length === 0) continue
        const { done } = await fanOut(batch)
        open.push(...batch.filter(({ id }) => !done.has(id)))
      }
    }
    const deliver = async () => {
      while (finished < total) {
        const claimed = (await claim()).filter((one) => integrations.includes(one.integration))
        const results = claimed.map((one) => {
          const succeeds = Math.random() < 0.8
          const key = `${one.integration} ${JSON.parse(one.data).id}`
          if (succeeds) deliveredSequences.set(key, [...(deliveredSequences.get(key) ?? []), one.sequence])
          return resultOf(one, succeeds)
        })
        if (results.length > 0) await record(...results)
        finished += results.filter(({ delivered }) => delivered).length
      }
    }
    await Promise.all([...resources.map(write), fanOutAll(), deliver(), deliver(), deliver()])
    assert.strictEqual(written, resources.length * each)
    const inOrder = Array.from({ length: each }, (_, n) => n + 1)
    assert.strictEqual(deliveredSequences.size, resources.length * integrations.length)
    for (const [key, sequences] of deliveredSequences) assert.deepStrictEqual(sequences, inOrder, key)
  })
})
