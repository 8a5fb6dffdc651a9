import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { initialLimit } from "../../../src/domain/delivery/SendLimits.ts"
import type { AttemptResult } from "../../../src/layers/delivery/AttemptResults.ts"
import type { ClaimedDelivery } from "../../../src/layers/delivery/Claims.ts"
import type { ClaimLimits } from "../../../src/layers/delivery/DeliveryQueues.ts"
import { makeId } from "../../../src/layers/postgres/IdGenerator.ts"
import { type DeliveryDatabase, openDeliveryDatabase } from "../../support/servers/deliveryDatabase.ts"

const limits: ClaimLimits = {
  pool: "NEW",
  max: 50,
  maxPerTenant: 50,
  allowanceByTenant: {},
  sendLimitByIntegration: {}
}

const outcomeOf = (
  { id, integration, lease, tenant }: ClaimedDelivery,
  delivered: boolean,
  again = new Date()
): AttemptResult => ({
  tenant,
  integration,
  id,
  lease,
  delivered,
  attemptedAt: new Date().toISOString(),
  latencyMs: 1,
  status: delivered ? 200 : 500,
  nextAttemptAt: delivered ? undefined : again.toISOString()
})

describe("the ledger of deliveries", () => {
  let ledger: DeliveryDatabase
  beforeAll(async () => {
    ledger = await openDeliveryDatabase()
  })
  afterAll(() => ledger.close())

  const place = async () => (await ledger.run(ledger.outbox.assignPositions("test", 1000, ""))) ?? []
  const claim = async () => (await ledger.run(ledger.claims.claim(makeId("lease"), "", limits))).claimed
  const fanOut = (keys: ReadonlyArray<{ tenant: string; id: string }>) => ledger.run(ledger.fanOut.fanOut(keys))
  const record = async (...outcomes: ReadonlyArray<AttemptResult>) => {
    for (let left = outcomes; left.length > 0; ) left = await ledger.run(ledger.outcomes.record(left))
  }
  const statusesOf = async (integration: string) => {
    const { rows } = await ledger.sql.query(
      "select resource_id, sequence, status from deliveries where integration_id = $1 order by 1, 2",
      [integration]
    )
    return rows.map(({ status }) => status)
  }

  it("gives positions in the order of commits, to the leader alone, and to each event once", async () => {
    const tenant = await ledger.newTenant()
    const first = await ledger.newEvent(tenant, "clnt_1", 1)
    const second = await ledger.newEvent(tenant, "clnt_1", 2)
    assert.deepStrictEqual(
      (await place()).map(({ id }) => id),
      [first, second]
    )
    assert.deepStrictEqual(await place(), [])
    assert.isUndefined(await ledger.run(ledger.outbox.assignPositions("somebody else", 10, "")))
    await ledger.run(ledger.outbox.releaseLease("test"))
    assert.deepStrictEqual(await ledger.run(ledger.outbox.assignPositions("somebody else", 10, "")), [])
    assert.isUndefined(await ledger.run(ledger.outbox.assignPositions("test", 10, "")))
    await ledger.run(ledger.outbox.releaseLease("somebody else"))
  })

  it("drops an entry whose event is gone, and gives the others their positions", async () => {
    const tenants = [await ledger.newTenant(), await ledger.newTenant(), await ledger.newTenant()].sort()
    const events: Array<string> = []
    for (const tenant of tenants)
      for (const n of [1, 2]) events.push(await ledger.newEvent(tenant, `clnt_${tenant}`, n))
    const gone = events[2]
    await ledger.sql.query("delete from events where id = $1", [gone])
    assert.sameMembers(
      (await place()).map(({ id }) => id),
      events.filter((id) => id !== gone)
    )
    const { rows } = await ledger.sql.query(
      `select (select count(*) from event_feed where event_id = any ($1))::int as placed,
         (select count(*) from outbox)::int as waiting`,
      [events]
    )
    assert.deepStrictEqual(rows, [{ placed: 5, waiting: 0 }])
    assert.deepStrictEqual(await place(), [])
  })

  it("shares a batch among tenants, each in the order of its events, however many one of them has", async () => {
    const [many, few, others] = [await ledger.newTenant(), await ledger.newTenant(), await ledger.newTenant()]
    const flood: Array<string> = []
    for (let n = 1; n <= 30; n++) flood.push(await ledger.newEvent(many, "clnt_many", n))
    const late = [await ledger.newEvent(few, "clnt_few", 1), await ledger.newEvent(others, "clnt_others", 1)]
    const batch = async (after = "") => (await ledger.run(ledger.outbox.assignPositions("test", 12, after))) ?? []
    const first = await batch()
    assert.sameMembers(
      first.map(({ id }) => id),
      [...flood.slice(0, 4), ...late]
    )
    // One alone has the whole batch, and the turn goes on behind the last tenant.
    assert.deepStrictEqual(
      (await batch()).map(({ id }) => id),
      flood.slice(4, 16)
    )
    assert.deepStrictEqual(await batch(many), [])
    assert.deepStrictEqual(
      [...(await batch()), ...(await batch())].map(({ id }) => id),
      flood.slice(16)
    )
  })

  it("never skips an event whose transaction commits late", async () => {
    const tenant = await ledger.newTenant()
    const late = await ledger.sql.connect()
    await late.query("begin")
    await late.query(
      `insert into events (tenant_id, id, type, resource_id, sequence, occurred_at, data)
       values ($1, 'evt_late', 'client.created', 'clnt_late', 1, now(), '{}')`,
      [tenant]
    )
    const quick = await ledger.newEvent(tenant, "clnt_quick", 1)
    assert.deepStrictEqual(
      (await place()).map(({ id }) => id),
      [quick]
    )
    await late.query("commit")
    late.release()
    assert.deepStrictEqual(
      (await place()).map(({ id }) => id),
      ["evt_late"]
    )
  })

  it("lets an event wait for the one before of the same resource, in the feed and in its lane", async () => {
    const tenant = await ledger.newTenant()
    const integration = await ledger.newIntegration(tenant)
    for (const sequence of [1, 2, 3]) await ledger.newEvent(tenant, "clnt_1", sequence)
    const [first, second, third] = await place()
    assert(first && second && third)
    const another = await ledger.sql.connect()
    await another.query("begin")
    await another.query("select 1 from event_feed where event_id = $1 for update", [first.id])
    assert.deepStrictEqual([...(await fanOut([second, third])).done], [], "while another worker is at the first")
    await another.query("rollback")
    another.release()
    assert.sameMembers(
      [...(await fanOut([second])).done],
      [first.id, second.id],
      "it brings along what comes before it"
    )
    assert.deepStrictEqual((await fanOut([third, second, first])).done.size, 3)
    assert.deepStrictEqual(await statusesOf(integration), ["PENDING", "WAITING", "WAITING"])

    const [head, ...others] = await claim()
    assert(head)
    assert.deepStrictEqual([head.sequence, others.length], [1, 0])
    assert.deepStrictEqual(await claim(), [], "while it is under way")
    await record(outcomeOf(head, false))
    assert.deepStrictEqual(
      (await claim()).map(({ sequence }) => sequence),
      [1],
      "it is tried again before the next"
    )
    await record(outcomeOf(head, true))
    assert.deepStrictEqual(await statusesOf(integration), ["PENDING", "WAITING", "WAITING"], "without the lease")
  })

  it("holds what an integration gets while it is paused, and counts what is under way to each", async () => {
    const tenant = await ledger.newTenant()
    const integration = await ledger.newIntegration(tenant, { status: "PAUSED" })
    for (let n = 0; n < 20; n++) await ledger.newEvent(tenant, `clnt_${n}`, 1)
    await fanOut(await place())
    assert.deepStrictEqual(await claim(), [])
    await ledger.sql.query("update integrations set status = 'ACTIVE' where id = $1", [integration])
    const mine = async () => (await claim()).filter((claimed) => claimed.integration === integration)
    const claimed = await mine()
    assert.strictEqual(claimed.length, initialLimit.NEW)
    assert.strictEqual((await mine()).length, 0)
    const [one] = claimed
    assert(one)
    await record(outcomeOf(one, true))
    assert.strictEqual((await mine()).length, 1)
    await ledger.sql.query("update integrations set failing_since = now() where id = $1", [integration])
    await record(...claimed.slice(1).map((each) => outcomeOf(each, false, new Date(Date.now() + 60_000))))
    assert.strictEqual((await mine()).length, 0, "one that fails has one under way at a time")
  })

  it("takes a delivery up again whose worker did not come back, and says so", async () => {
    const tenant = await ledger.newTenant()
    await ledger.newIntegration(tenant)
    await ledger.newEvent(tenant, "clnt_1", 1)
    await fanOut(await place())
    const mine = async () => (await claim()).find((claimed) => claimed.tenant === tenant)
    const lost = await mine()
    assert(lost)
    await ledger.sql.query(
      "update deliveries set leased_until = now() - interval '1 s', next_attempt_at = now() where id = $1",
      [lost.id]
    )
    const again = await mine()
    assert(again)
    assert.strictEqual(again.attempts, 1)
    await record(outcomeOf(lost, true), outcomeOf(again, true))
    const { rows } = await ledger.sql.query(
      "select number, outcome from delivery_attempts where delivery_id = $1 order by number",
      [lost.id]
    )
    assert.deepStrictEqual(rows, [
      { number: 1, outcome: "LOST" },
      { number: 2, outcome: "DELIVERED" }
    ])
  })

  it("tells an integration of a test event that it did not subscribe to, and nobody else", async () => {
    const tenant = await ledger.newTenant()
    const [one, other] = [await ledger.newIntegration(tenant), await ledger.newIntegration(tenant)]
    await ledger.newEvent(tenant, one, 2, "integration.ping")
    await fanOut(await place())
    assert.deepStrictEqual([await statusesOf(one), await statusesOf(other)], [["PENDING"], []])
  })

  it("drains every lane in order and leaves nothing behind, whoever does what at the same time", async () => {
    const tenant = await ledger.newTenant()
    const integrations = [await ledger.newIntegration(tenant), await ledger.newIntegration(tenant)]
    const resources = Array.from({ length: 6 }, (_, n) => `clnt_${n}`)
    const each = 25
    const told = new Map<string, Array<number>>()
    let written = 0
    const total = resources.length * each * integrations.length
    let finished = 0

    const write = async (resource: string) => {
      for (let sequence = 1; sequence <= each; sequence++) {
        await ledger.newEvent(tenant, resource, sequence)
        written++
      }
    }
    const fan = async () => {
      const open: Array<{ tenant: string; id: string }> = []
      while (finished < total) {
        open.push(...(await place()))
        const batch = open.splice(0, 1 + Math.floor(Math.random() * 20)).sort(() => Math.random() - 0.5)
        if (batch.length === 0) await new Promise((resolve) => setTimeout(resolve, 2))
        const { done } = batch.length === 0 ? { done: new Set() } : await fanOut(batch)
        open.push(...batch.filter(({ id }) => !done.has(id)))
      }
    }
    const deliver = async () => {
      while (finished < total) {
        const claimed = (await claim()).filter((one) => integrations.includes(one.integration))
        const outcomes = claimed.map((one) => {
          const delivered = Math.random() < 0.8
          const lane = `${one.integration} ${JSON.parse(one.data).id}`
          if (delivered) told.set(lane, [...(told.get(lane) ?? []), one.sequence])
          return outcomeOf(one, delivered)
        })
        if (outcomes.length > 0) await record(...outcomes)
        finished += outcomes.filter(({ delivered }) => delivered).length
      }
    }
    await Promise.all([...resources.map(write), fan(), deliver(), deliver(), deliver()])
    assert.strictEqual(written, resources.length * each)
    const inOrder = Array.from({ length: each }, (_, n) => n + 1)
    assert.strictEqual(told.size, resources.length * integrations.length)
    for (const [lane, sequences] of told) assert.deepStrictEqual(sequences, inOrder, lane)
  })
})
