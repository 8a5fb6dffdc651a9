import { setTimeout as pause } from "node:timers/promises"
import type pg from "pg"
import { afterAll, assert, beforeAll, describe, it, onTestFinished } from "vitest"
import { maxInFlightPerTenant, maxInFlightUnproven, slowAfterMs } from "../../../src/domain/delivery/SendLimits.ts"
import {
  deliveryStatusesOf,
  insertDueDeliveries,
  insertTenant,
  resumeIntegrations,
  startBlockedReceiver
} from "../../support/fixtures/dueDeliveries.ts"
import { openPool } from "../../support/servers/database.ts"
import { startReceiver } from "../../support/servers/receiver.ts"
import { type Service, startService } from "../../support/servers/service.ts"
import { eventually, type RunningWorker, startWorker } from "../../support/servers/worker.ts"

describe("The delivery worker", { timeout: 60_000 }, () => {
  let service: Service
  let pool: pg.Pool
  let delivery: RunningWorker
  beforeAll(async () => {
    service = await startService({})
    pool = openPool(service.database.url)
    delivery = await startWorker(service, "delivery")
  })
  afterAll(async () => {
    await delivery.stop()
    await pool.end()
    await service.stop()
  })

  const newBlockedReceiver = async () => {
    const started = await startBlockedReceiver()
    onTestFinished(async () => {
      started.release()
      await started.stop()
    })
    return started
  }
  const newReceiver = async (...args: Parameters<typeof startReceiver>) => {
    const started = await startReceiver(...args)
    onTestFinished(started.stop)
    return started
  }
  const latencyClassOf = async (integration: string) => {
    const { rows } = await pool.query("select latency_class from integrations where id = $1", [integration])
    return rows[0]?.latency_class
  }

  it.each([
    ["one tenant", 1, 12, 30],
    ["many tenants", 20, 2, 10]
  ])("delivers all events of a tenant while the receivers of %s do not respond", async (_, tenants, each, due) => {
    const slow = await newBlockedReceiver()
    const blocked: Array<string> = []
    for (let n = 0; n < tenants; n++) {
      const tenant = await insertTenant(pool)
      for (let m = 0; m < each; m++) blocked.push(await insertDueDeliveries(pool, tenant, `${slow.url}/${tenant}`, due))
    }
    await resumeIntegrations(pool, ...blocked)
    await eventually(() => slow.received.length >= 16, "the slow receivers occupy slots")

    const fast = await newReceiver()
    const victim = await insertDueDeliveries(pool, await insertTenant(pool), fast.url, 150)
    await resumeIntegrations(pool, victim)
    await eventually(() => fast.received.length === 150, "every delivery has arrived")
    await eventually(
      async () => (await deliveryStatusesOf(pool, victim))["DELIVERED"] === 150,
      "every result is recorded"
    )
    const counts = [...slow.countBlocked().values()]
    assert.strictEqual(
      counts.reduce((sum, count) => sum + count, 0),
      slow.received.length,
      "no slow receiver has responded"
    )
    assert.isAtMost(slow.received.length, maxInFlightUnproven)
    assert.isAtMost(Math.max(...counts), maxInFlightPerTenant)
    assert.strictEqual(await latencyClassOf(victim), "PROVEN")

    await pool.query("update integrations set status = 'PAUSED' where id = any($1)", [blocked])
  })

  it("limits a slow receiver to one slot, and raises the limit when the receiver is fast again", async () => {
    const slow = await newBlockedReceiver()
    const integration = await insertDueDeliveries(pool, await insertTenant(pool), slow.url, 250)
    await resumeIntegrations(pool, integration)
    await eventually(() => slow.received.length > 0, "the slow receiver has a request")
    // The timer of slow receivers is under test, and the database stores the reduced limit only with a response.
    await pause(slowAfterMs.WEBHOOK + 500)
    assert.isAtMost(slow.received.length, 2)

    let open = 0
    let peak = 0
    slow.release()
    slow.respondWith((_, response) => {
      peak = Math.max(peak, ++open)
      setTimeout(() => {
        open--
        response.end()
      }, 100)
    })
    await eventually(() => slow.received.length === 250, "every delivery has arrived")
    assert.isAtLeast(peak, 8)
    await eventually(
      async () => (await deliveryStatusesOf(pool, integration))["DELIVERED"] === 250,
      "every result is recorded"
    )
    await eventually(async () => (await latencyClassOf(integration)) === "PROVEN", "the receiver is proven")
  })

  it("records results of other tenants while an integration is locked, and its own after the unlock", async () => {
    const { received, url } = await newReceiver()
    const [tenant, other] = [await insertTenant(pool), await insertTenant(pool)]
    const [locked, open] = [
      await insertDueDeliveries(pool, tenant, `${url}/locked`, 8),
      await insertDueDeliveries(pool, other, url, 40)
    ]
    const connection = await pool.connect()
    await connection.query("begin")
    await connection.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [`deliveries ${tenant} ${locked}`])
    await resumeIntegrations(pool, locked, open)
    await eventually(
      async () => (await deliveryStatusesOf(pool, open))["DELIVERED"] === 40,
      "the results of the other tenant are recorded"
    )
    assert.deepStrictEqual(await deliveryStatusesOf(pool, locked), { PENDING: 8 })
    const sentBefore = received.filter(({ path }) => path === "/locked").length
    assert.isAbove(sentBefore, 0)
    await connection.query("commit")
    connection.release()
    await eventually(
      async () => (await deliveryStatusesOf(pool, locked))["DELIVERED"] === 8,
      "the results of the locked integration are recorded"
    )
    assert.lengthOf(received, 48, "each delivery is sent once")
  })
})
