import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { EventKey, FanOutLimits } from "../../../src/layers/delivery/FanOut.ts"
import { type DeliveryDatabase, openDeliveryDatabase } from "../../support/servers/deliveryDatabase.ts"

const limits: FanOutLimits = { maxEvents: 20, maxDeliveries: 25 }

describe("fan-out", () => {
  let ledger: DeliveryDatabase
  beforeAll(async () => {
    ledger = await openDeliveryDatabase()
  })
  afterAll(() => ledger.close())

  const place = async () => (await ledger.run(ledger.outbox.assignPositions("test", 1000, ""))) ?? []
  const idsOf = (keys: ReadonlyArray<EventKey>) => keys.map(({ id }) => id)

  /** A tenant with so many integrations on every client, and so many events of each of so many clients, in the feed. */
  const flood = async (integrations: number, resources: number, each: number) => {
    const tenant = await ledger.newTenant()
    for (let n = 0; n < integrations; n++) await ledger.newIntegration(tenant)
    for (let sequence = 1; sequence <= each; sequence++)
      for (let n = 0; n < resources; n++) await ledger.newEvent(tenant, `clnt_${n}`, sequence)
    const keys = (await place()).map(({ id, tenant }) => ({ id, tenant }))
    assert.lengthOf(keys, resources * each)
    return { tenant, keys }
  }

  const count = async (tenant: string) => {
    const { rows } = await ledger.sql.query<{ count: number }>(
      "select count(*)::int from deliveries where tenant_id = $1",
      [tenant]
    )
    return rows[0]?.count ?? 0
  }

  /** Events that were begun before one of the same resource was done. */
  const begunTooEarly = async (tenant: string) => {
    const { rows } = await ledger.sql.query(
      `select 1 from event_feed before join event_feed after
         on after.tenant_id = before.tenant_id and after.resource_id = before.resource_id and after.sequence > before.sequence
       where before.tenant_id = $1 and not before.fanned_out and (after.fanned_out or exists (
         select 1 from deliveries d where d.tenant_id = after.tenant_id and d.event_id = after.event_id))`,
      [tenant]
    )
    return rows.length
  }

  const assertEveryLaneHasOneHead = async (tenant: string) => {
    const { rows } = await ledger.sql.query(
      `select integration_id from deliveries where tenant_id = $1 group by integration_id, resource_id
       having array_agg(status order by sequence) <> array['PENDING'] || array_fill('WAITING'::text, array[count(*)::int - 1])`,
      [tenant]
    )
    assert.deepStrictEqual(rows, [])
  }

  it("enters no more than its limit at a time, event by event, until everybody is told once", async () => {
    const { keys, tenant } = await flood(60, 3, 3)
    let open = keys
    let before = 0
    let steps = 0
    while (open.length > 0) {
      const { done, deliveryCount, advancedTenants } = await ledger.run(ledger.fanOut.fanOut(open, limits))
      assert.isTrue(advancedTenants.has(tenant))
      assert.isAtMost(deliveryCount, limits.maxDeliveries)
      const now = await count(tenant)
      assert.strictEqual(now - before, deliveryCount)
      assert.strictEqual(await begunTooEarly(tenant), 0)
      before = now
      open = open.filter(({ id }) => !done.has(id))
      steps++
    }
    assert.strictEqual(before, 60 * 3 * 3)
    assert.isAtLeast(steps, before / limits.maxDeliveries)
    await assertEveryLaneHasOneHead(tenant)
  })

  it("gives every tenant of a batch an equal share", async () => {
    const large = await flood(40, 4, 1)
    const small = await flood(3, 2, 1)
    const { done, deliveryCount } = await ledger.run(ledger.fanOut.fanOut([...large.keys, ...small.keys], limits))
    assert.deepStrictEqual([...done].sort(), idsOf(small.keys).sort(), "although the others were there first")
    assert.strictEqual(await count(small.tenant), 6)
    assert.strictEqual(await count(large.tenant), Math.floor(limits.maxDeliveries / 2))
    assert.isAtMost(deliveryCount, limits.maxDeliveries)
  })

  it("loses nothing and tells nobody twice when it is interrupted between and within its steps", async () => {
    const { keys, tenant } = await flood(30, 2, 4)
    let open = keys
    for (let round = 0; open.length > 0; round++) {
      const attempt = ledger.fanOut.fanOut(open.toReversed(), limits)
      const patience = round % 2 === 0 ? Math.random() * 12 : 10_000
      const result = await ledger.run(Effect.timeoutOption(attempt, patience))
      assert.strictEqual(await begunTooEarly(tenant), 0)
      if (result._tag === "Some") open = open.filter(({ id }) => !result.value.done.has(id))
    }
    assert.strictEqual(await count(tenant), 30 * 2 * 4, "each event is unique to each integration")
    await assertEveryLaneHasOneHead(tenant)
  })

  it("tells those whose subscription names the type or the resource, of every client or of this one", async () => {
    const tenant = await ledger.newTenant()
    const stamps = "'T', now(), now(), 1"
    for (const client of ["clnt_mine", "clnt_other"])
      await ledger.sql.query(
        `insert into clients (tenant_id, id, name, created_at, updated_at, sequence, media) values ($1, $2, ${stamps}, '[]')`,
        [tenant, client]
      )
    const subscribed = async (type: string, client?: string) => {
      const id = await ledger.newIntegration(tenant)
      await ledger.sql.query("update subscriptions set event_type = $2, client_id = $3 where integration_id = $1", [
        id,
        type,
        client
      ])
      return id
    }
    const told = [
      await subscribed("contract.*"),
      await subscribed("contract.created"),
      await subscribed("contract.created", "clnt_mine"),
      await subscribed("contract.*", "clnt_mine")
    ]
    await subscribed("contract.updated")
    await subscribed("contract.*", "clnt_other")
    const [both] = told
    await ledger.sql.query(
      `insert into subscriptions (tenant_id, id, integration_id, event_type, scope_key)
       values ($1, 'sub_more', $2, 'contract.created', 'tenant')`,
      [tenant, both]
    )
    const event = await ledger.newEvent(tenant, "cont_1", 1, "contract.created")
    await ledger.sql.query("update events set client_id = 'clnt_mine' where id = $1", [event])
    await place()
    const { done } = await ledger.run(ledger.fanOut.fanOut([{ tenant, id: event }]))
    assert.deepStrictEqual([...done], [event])
    const { rows } = await ledger.sql.query("select integration_id from deliveries where tenant_id = $1", [tenant])
    assert.sameMembers(
      rows.map(({ integration_id }) => integration_id),
      told
    )
  })

  it("finds what waits by tenant, and page by page", async () => {
    const { keys, tenant } = await flood(0, 2, 3)
    const waiting = ledger.run(ledger.fanOut.listWaitingTenants("", 1000))
    assert.include(
      (await waiting).map(({ tenant }) => tenant),
      tenant
    )
    const first = await ledger.run(ledger.fanOut.listWaiting(tenant, { resource: "", sequence: 0 }, 4))
    const last = first.at(-1)
    assert(last)
    const second = await ledger.run(ledger.fanOut.listWaiting(tenant, last, 4))
    assert.deepStrictEqual(
      [...first, ...second].map(({ resource, sequence }) => `${resource} ${sequence}`),
      ["clnt_0 1", "clnt_0 2", "clnt_0 3", "clnt_1 1", "clnt_1 2", "clnt_1 3"]
    )
    assert.sameMembers(idsOf([...first, ...second]), idsOf(keys))
  })
})
