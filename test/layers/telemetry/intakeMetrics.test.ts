import { setTimeout as sleep } from "node:timers/promises"
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

const read = async (address: string) => {
  const samples = parseMetrics(await (await fetch(address)).text())
  return (name: string, outcome?: string) =>
    samples.find((sample) => sample.name === name && sample.labels.outcome === outcome)?.value
}

describe("the metrics of the intake", () => {
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

  const connected = async () => {
    const tenant = await service.newTenant()
    const made = await jiraSender(service).made(tenant)
    await insertAuthorization(pool, made.id, 1007)
    return { tenant, ...made }
  }
  const ofApi = () => read(`${service.url}/metrics`)

  it("count what is received by what comes of it", async () => {
    const { key } = await connected()
    const { send } = jiraSender(service)
    const none = await ofApi()
    for (const outcome of ["ACCEPTED", "DUPLICATE", "UNWANTED"])
      assert.strictEqual(none("webhooks_received_total", outcome), 0)
    for (const identifier of ["one", "one", "one", "two"]) await send(key, makeWebhookBody("created"), { identifier })
    await send(key, makeWebhookBody("created", { webhookIds: [1] }))
    const some = await ofApi()
    assert.strictEqual(some("webhooks_received_total", "ACCEPTED"), 2)
    assert.strictEqual(some("webhooks_received_total", "DUPLICATE"), 2)
    assert.strictEqual(some("webhooks_received_total", "UNWANTED"), 1)
  })

  it("tell what waits for who could work it, and for how long", async () => {
    await pool.query("delete from inbound_webhooks")
    await sleep(1100)
    const idle = await ofApi()
    assert.strictEqual(idle("webhooks_waiting"), 0)
    assert.strictEqual(idle("webhooks_oldest_waiting_seconds"), 0)
    const [working, paused] = [await connected(), await connected()]
    const plant = ({ id, tenant }: typeof working, seconds: number, status: "RECEIVED" | "DONE" = "RECEIVED") =>
      insertInboundRow(pool, tenant, id, { at: new Date(Date.now() - seconds * 1000).toISOString(), status })
    for (const seconds of [50, 20]) await plant(working, seconds)
    await plant(working, 500, "DONE")
    await plant(paused, 1000)
    await pool.query("update integrations set status = 'PAUSED' where id = $1", [paused.id])
    await sleep(1100)
    const busy = await ofApi()
    assert.strictEqual(busy("webhooks_waiting"), 2)
    assert.closeTo(busy("webhooks_oldest_waiting_seconds") ?? 0, 50, 10)
  })

  it("count what is worked by what comes of it, where it is worked", async () => {
    await pool.query("delete from inbound_webhooks")
    const { id, key, tenant } = await connected()
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
    const ofWorker = () => read(`http://127.0.0.1:${port}/metrics`)
    await eventually(async () => {
      const told = await ofWorker()
      return told("webhooks_worked_total", "STALE") === 1 && told("webhooks_worked_total", "FAILED") === 1
    }, "all is worked")
    const told = await ofWorker()
    await worker.stop()
    assert.strictEqual(told("webhooks_worked_total", "DONE"), 2)
    assert.strictEqual(told("webhooks_worked_total", "RETRIED"), 1)
  })
})
