import type pg from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { parseMetrics } from "../../support/assertions/metrics.ts"
import { insertAuthorization, insertInboundRow } from "../../support/fixtures/issueRows.ts"
import { makeWebhookBody } from "../../support/fixtures/jiraWebhookBody.ts"
import { jiraSender, jiraSettings } from "../../support/fixtures/jiraWebhooks.ts"
import { openPool } from "../../support/servers/database.ts"
import { findClosedPort } from "../../support/servers/proxy.ts"
import { type Service, startService } from "../../support/servers/service.ts"
import { eventually, startWorker } from "../../support/servers/worker.ts"

const readMetrics = async (address: string) => {
  const samples = parseMetrics(await (await fetch(address)).text())
  return (name: string, outcome?: string) =>
    samples.find((sample) => sample.name === name && sample.labels.outcome === outcome)?.value
}

describe("The inbound webhook metrics", () => {
  let service: Service
  let pool: pg.Pool
  beforeAll(async () => {
    service = await startService(jiraSettings)
    pool = openPool(service.database.url)
  })
  afterAll(async () => {
    await pool.end()
    await service.stop()
  })

  const insertConnected = async () => {
    const tenant = await service.newTenant()
    const integration = await jiraSender(service).createIntegration(tenant)
    await insertAuthorization(pool, integration.id, 1007)
    return { tenant, ...integration }
  }
  const readApiMetrics = () => readMetrics(`${service.url}/metrics`)

  /** Reads the metrics once the gauge has this value: the API caches its gauges for a second. */
  const awaitWaiting = async (count: number) => {
    let metrics = await readApiMetrics()
    await eventually(async () => {
      metrics = await readApiMetrics()
      return metrics("webhooks_waiting") === count
    }, `${count} webhooks are waiting`)
    return metrics
  }

  it("count received webhooks by outcome", async () => {
    const { key } = await insertConnected()
    const { send } = jiraSender(service)
    const initial = await readApiMetrics()
    for (const outcome of ["ACCEPTED", "DUPLICATE", "UNWANTED"])
      assert.strictEqual(initial("webhooks_received_total", outcome), 0)
    for (const identifier of ["one", "one", "one", "two"]) await send(key, makeWebhookBody("created"), { identifier })
    await send(key, makeWebhookBody("created", { webhookIds: [1] }))
    const final = await readApiMetrics()
    assert.strictEqual(final("webhooks_received_total", "ACCEPTED"), 2)
    assert.strictEqual(final("webhooks_received_total", "DUPLICATE"), 2)
    assert.strictEqual(final("webhooks_received_total", "UNWANTED"), 1)
  })

  it("show the waiting webhooks of active integrations and the age of the oldest one", async () => {
    await pool.query("delete from inbound_webhooks")
    const idle = await awaitWaiting(0)
    assert.strictEqual(idle("webhooks_oldest_waiting_seconds"), 0)
    const [working, paused] = [await insertConnected(), await insertConnected()]
    const insertWebhook = ({ id, tenant }: typeof working, seconds: number, status: "RECEIVED" | "DONE" = "RECEIVED") =>
      insertInboundRow(pool, tenant, id, { at: new Date(Date.now() - seconds * 1000).toISOString(), status })
    for (const seconds of [50, 20]) await insertWebhook(working, seconds)
    await insertWebhook(working, 500, "DONE")
    await insertWebhook(paused, 1000)
    await pool.query("update integrations set status = 'PAUSED' where id = $1", [paused.id])
    const busy = await awaitWaiting(2)
    assert.closeTo(busy("webhooks_oldest_waiting_seconds") ?? 0, 50, 10)
  })

  it("count processed webhooks by outcome in the worker", async () => {
    await pool.query("delete from inbound_webhooks")
    const { id, key, tenant } = await insertConnected()
    const { send } = jiraSender(service)
    await send(key, makeWebhookBody("created", { timestamp: 2 }))
    await send(key, makeWebhookBody("deleted", { timestamp: 3 }))
    await send(key, makeWebhookBody("updated", { timestamp: 4 }))
    for (const attempts of [0, 4]) {
      const broken = await insertInboundRow(pool, tenant, id, { status: "RECEIVED", at: "2026-01-01T00:00:00Z" })
      await pool.query("update inbound_webhooks set attempts = $2, issue_id = 'broken' where id = $1", [
        broken,
        attempts
      ])
    }
    const port = await findClosedPort()
    const worker = await startWorker({ settings: { ...service.settings, METRICS_PORT: port } }, "intake")
    const readWorkerMetrics = () => readMetrics(`http://127.0.0.1:${port}/metrics`)
    await eventually(async () => {
      const metrics = await readWorkerMetrics()
      return metrics("webhooks_processed_total", "STALE") === 1 && metrics("webhooks_processed_total", "FAILED") === 1
    }, "all webhooks are processed")
    const metrics = await readWorkerMetrics()
    await worker.stop()
    assert.strictEqual(metrics("webhooks_processed_total", "DONE"), 2)
    assert.strictEqual(metrics("webhooks_processed_total", "RETRIED"), 1)
  })
})
