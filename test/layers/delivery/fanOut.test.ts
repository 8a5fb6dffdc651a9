import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { EventKey, FanOutLimits } from "../../../src/layers/delivery/FanOut.ts"
import { type DeliveryDatabase, openDeliveryDatabase } from "../../support/servers/deliveryDatabase.ts"

const limits: FanOutLimits = { maxEvents: 20, maxDeliveries: 25 }

describe("FanOut", () => {
  let database: DeliveryDatabase
  beforeAll(async () => {
    database = await openDeliveryDatabase()
  })
  afterAll(() => database.close())

  const assignPositions = async () => (await database.run(database.outbox.assignPositions("test", 1000, ""))) ?? []
  const idsOf = (keys: ReadonlyArray<EventKey>) => keys.map(({ id }) => id)

  /** A tenant with integrations that subscribe to all clients, and events of several clients in the feed. */
  const makeTenant = async (integrations: number, resources: number, eventsOfEach: number) => {
    const tenant = await database.newTenant()
    await Promise.all(Array.from({ length: integrations }, () => database.newIntegration(tenant)))
    for (let sequence = 1; sequence <= eventsOfEach; sequence++)
      for (let n = 0; n < resources; n++) await database.newEvent(tenant, `clnt_${n}`, sequence)
    const keys = (await assignPositions()).map(({ id, tenant }) => ({ id, tenant }))
    assert.lengthOf(keys, resources * eventsOfEach)
    return { tenant, keys }
  }

  const countDeliveries = async (tenant: string) => {
    const { rows } = await database.sql.query<{ count: number }>(
      "select count(*)::int from deliveries where tenant_id = $1",
      [tenant]
    )
    return rows[0]?.count ?? 0
  }

  /** Counts events that were fanned out before an earlier event of the same resource was complete. */
  const countOutOfOrder = async (tenant: string) => {
    const { rows } = await database.sql.query(
      `select 1 from event_feed before join event_feed after
         on after.tenant_id = before.tenant_id and after.resource_id = before.resource_id and after.sequence > before.sequence
       where before.tenant_id = $1 and not before.fanned_out and (after.fanned_out or exists (
         select 1 from deliveries d where d.tenant_id = after.tenant_id and d.event_id = after.event_id))`,
      [tenant]
    )
    return rows.length
  }

  const assertOnePendingPerResource = async (tenant: string) => {
    const { rows } = await database.sql.query(
      `select integration_id from deliveries where tenant_id = $1 group by integration_id, resource_id
       having array_agg(status order by sequence) <> array['PENDING'] || array_fill('WAITING'::text, array[count(*)::int - 1])`,
      [tenant]
    )
    assert.deepStrictEqual(rows, [])
  }

  it("creates at most maxDeliveries per step, event by event, and one delivery per integration and event", async () => {
    const { keys, tenant } = await makeTenant(60, 3, 3)
    let open = keys
    let before = 0
    let steps = 0
    while (open.length > 0) {
      const { done, deliveryCount, advancedTenants } = await database.run(database.fanOut.fanOut(open, limits))
      assert.isTrue(advancedTenants.has(tenant))
      assert.isAtMost(deliveryCount, limits.maxDeliveries)
      const now = await countDeliveries(tenant)
      assert.strictEqual(now - before, deliveryCount)
      assert.strictEqual(await countOutOfOrder(tenant), 0)
      before = now
      open = open.filter(({ id }) => !done.has(id))
      steps++
    }
    assert.strictEqual(before, 60 * 3 * 3)
    assert.isAtLeast(steps, before / limits.maxDeliveries)
    await assertOnePendingPerResource(tenant)
  })

  it("creates nothing for the key of another tenant", async () => {
    const { keys } = await makeTenant(1, 1, 1)
    const other = await makeTenant(1, 1, 1)
    const mixed = keys.map(({ id }) => ({ id, tenant: other.tenant }))
    const { deliveryCount } = await database.run(database.fanOut.fanOut(mixed, limits))
    assert.strictEqual(deliveryCount, 0)
  })

  it("gives each tenant of a batch an equal share", async () => {
    const large = await makeTenant(40, 4, 1)
    const small = await makeTenant(3, 2, 1)
    const { done, deliveryCount } = await database.run(database.fanOut.fanOut([...large.keys, ...small.keys], limits))
    assert.deepStrictEqual(
      [...done].sort(),
      idsOf(small.keys).sort(),
      "only the events of the small tenant are complete"
    )
    assert.strictEqual(await countDeliveries(small.tenant), 6)
    assert.strictEqual(await countDeliveries(large.tenant), Math.floor(limits.maxDeliveries / 2))
    assert.isAtMost(deliveryCount, limits.maxDeliveries)
  })

  it("creates each delivery once although it is interrupted between and within steps", async () => {
    const { keys, tenant } = await makeTenant(30, 2, 4)
    let open = keys
    for (let round = 0; open.length > 0; round++) {
      const attempt = database.fanOut.fanOut(open.toReversed(), limits)
      const timeoutMs = round % 2 === 0 ? Math.random() * 12 : 10_000
      const result = await database.run(Effect.timeoutOption(attempt, timeoutMs))
      assert.strictEqual(await countOutOfOrder(tenant), 0)
      if (result._tag === "Some") open = open.filter(({ id }) => !result.value.done.has(id))
    }
    assert.strictEqual(await countDeliveries(tenant), 30 * 2 * 4, "one delivery per integration and event")
    await assertOnePendingPerResource(tenant)
  })

  it("matches subscriptions by event type or wildcard, for all clients or for the client of the event", async () => {
    const tenant = await database.newTenant()
    const stamps = "'T', now(), now(), 1"
    for (const client of ["clnt_mine", "clnt_other"])
      await database.sql.query(
        `insert into clients (tenant_id, id, name, created_at, updated_at, sequence, media) values ($1, $2, ${stamps}, '[]')`,
        [tenant, client]
      )
    const insertSubscriber = async (type: string, client?: string) => {
      const id = await database.newIntegration(tenant)
      await database.sql.query("update subscriptions set event_type = $2, client_id = $3 where integration_id = $1", [
        id,
        type,
        client
      ])
      return id
    }
    const matching = [
      await insertSubscriber("contract.*"),
      await insertSubscriber("contract.created"),
      await insertSubscriber("contract.created", "clnt_mine"),
      await insertSubscriber("contract.*", "clnt_mine")
    ]
    await insertSubscriber("contract.updated")
    await insertSubscriber("contract.*", "clnt_other")
    const [withBoth] = matching
    await database.sql.query(
      `insert into subscriptions (tenant_id, id, integration_id, event_type, scope_key)
       values ($1, 'sub_more', $2, 'contract.created', 'tenant')`,
      [tenant, withBoth]
    )
    const event = await database.newEvent(tenant, "cont_1", 1, "contract.created")
    await database.sql.query("update events set client_id = 'clnt_mine' where id = $1", [event])
    await assignPositions()
    const { done } = await database.run(database.fanOut.fanOut([{ tenant, id: event }]))
    assert.deepStrictEqual([...done], [event])
    const { rows } = await database.sql.query("select integration_id from deliveries where tenant_id = $1", [tenant])
    assert.sameMembers(
      rows.map(({ integration_id }) => integration_id),
      matching
    )
  })

  it("lists the waiting tenants, and the waiting events of a tenant page by page", async () => {
    const { keys, tenant } = await makeTenant(0, 2, 3)
    const waiting = database.run(database.fanOut.listWaitingTenants("", 1000))
    assert.include(
      (await waiting).map(({ tenant }) => tenant),
      tenant
    )
    const first = await database.run(database.fanOut.listWaiting(tenant, { resource: "", sequence: 0 }, 4))
    const last = first.at(-1)
    assert(last)
    const second = await database.run(database.fanOut.listWaiting(tenant, last, 4))
    assert.deepStrictEqual(
      [...first, ...second].map(({ resource, sequence }) => `${resource} ${sequence}`),
      ["clnt_0 1", "clnt_0 2", "clnt_0 3", "clnt_1 1", "clnt_1 2", "clnt_1 3"]
    )
    assert.sameMembers(idsOf([...first, ...second]), idsOf(keys))
  })
})
