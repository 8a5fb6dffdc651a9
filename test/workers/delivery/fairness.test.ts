import type pg from "pg"
import { afterAll, assert, beforeAll, describe, it, onTestFinished } from "vitest"
import { maxInFlightPerTenant, maxInFlightUnproven } from "../../../src/domain/delivery/SendLimits.ts"
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

describe("sending", { timeout: 60_000 }, () => {
  let service: Service
  let pool: pg.Pool
  let delivery: RunningWorker
  beforeAll(async () => {
    service = await startService()
    pool = openPool(service.database.url)
    delivery = await startWorker(service, "delivery")
  })
  afterAll(async () => {
    await delivery.stop()
    await pool.end()
    await service.stop()
  })

  const holding = async () => {
    const started = await startBlockedReceiver()
    onTestFinished(async () => {
      started.release()
      await started.stop()
    })
    return started
  }
  const receiver = async (...answering: Parameters<typeof startReceiver>) => {
    const started = await startReceiver(...answering)
    onTestFinished(started.stop)
    return started
  }
  const classOf = async (integration: string) => {
    const { rows } = await pool.query("select latency_class from integrations where id = $1", [integration])
    return rows[0]?.latency_class
  }

  it.each([
    ["one tenant", 1, 12, 30],
    ["many tenants", 20, 2, 10]
  ])("brings a tenant everything while the receivers of %s hold what they are sent", async (_, tenants, each, due) => {
    const slow = await holding()
    const held: Array<string> = []
    for (let n = 0; n < tenants; n++) {
      const tenant = await insertTenant(pool)
      for (let m = 0; m < each; m++) held.push(await insertDueDeliveries(pool, tenant, `${slow.url}/${tenant}`, due))
    }
    await resumeIntegrations(pool, ...held)
    await eventually(() => slow.received.length >= 16, "the slow receivers hold slots")

    const quick = await receiver()
    const victim = await insertDueDeliveries(pool, await insertTenant(pool), quick.url, 150)
    await resumeIntegrations(pool, victim)
    await eventually(() => quick.received.length === 150, "everything has come")
    await eventually(
      async () => (await deliveryStatusesOf(pool, victim))["DELIVERED"] === 150,
      "everything is recorded"
    )
    const counts = [...slow.held().values()]
    assert.strictEqual(
      counts.reduce((sum, count) => sum + count, 0),
      slow.received.length,
      "all of them are still held"
    )
    assert.isAtMost(slow.received.length, maxInFlightUnproven)
    assert.isAtMost(Math.max(...counts), maxInFlightPerTenant)
    assert.strictEqual(await classOf(victim), "PROVEN")

    await pool.query("update integrations set status = 'PAUSED' where id = any($1)", [held])
  })

  it("gives a receiver that turned slow one slot, and its width back when it is quick again", async () => {
    const slow = await holding()
    const integration = await insertDueDeliveries(pool, await insertTenant(pool), slow.url, 250)
    await resumeIntegrations(pool, integration)
    await eventually(() => slow.received.length > 0, "it holds what it is sent")
    // The limit falls while nothing is answered; the database learns of it with the first answer.
    const { rows } = await pool.query("select now() as now")
    await eventually(
      async () => (await pool.query("select now() - $1 > interval '3 s' as is", [rows[0]?.now])).rows[0]?.is === true,
      "it is slow by now"
    )
    const before = slow.received.length
    assert.isAtMost(before, 2)

    let open = 0
    let peak = 0
    slow.release()
    slow.answer((_, response) => {
      peak = Math.max(peak, ++open)
      setTimeout(() => {
        open--
        response.end()
      }, 100)
    })
    await eventually(() => slow.received.length === 250, "everything has come")
    assert.isAtLeast(peak, 8)
    await eventually(async () => (await deliveryStatusesOf(pool, integration))["DELIVERED"] === 250, "it is recorded")
    await eventually(async () => (await classOf(integration)) === "PROVEN", "it is proven")
  })

  it("records what came of other tenants' while an integration is locked, and the locked ones' afterwards", async () => {
    const { received, url } = await receiver()
    const [tenant, other] = [await insertTenant(pool), await insertTenant(pool)]
    const [locked, open] = [
      await insertDueDeliveries(pool, tenant, `${url}/locked`, 8),
      await insertDueDeliveries(pool, other, url, 40)
    ]
    const connection = await pool.connect()
    await connection.query("begin")
    await connection.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [`deliveries ${tenant} ${locked}`])
    await resumeIntegrations(pool, locked, open)
    await eventually(async () => (await deliveryStatusesOf(pool, open))["DELIVERED"] === 40, "the others' are recorded")
    assert.deepStrictEqual(await deliveryStatusesOf(pool, locked), { PENDING: 8 })
    const sentBefore = received.filter(({ path }) => path === "/locked").length
    assert.isAbove(sentBefore, 0)
    await connection.query("commit")
    connection.release()
    await eventually(
      async () => (await deliveryStatusesOf(pool, locked))["DELIVERED"] === 8,
      "the locked ones' are recorded"
    )
    assert.lengthOf(received, 48, "each was sent once")
  })
})
