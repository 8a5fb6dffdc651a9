import { afterAll, assert, beforeAll, describe, it } from "vitest"
import manifest from "../../../../package.json" with { type: "json" }
import type { WorkerName } from "../../../../src/workers/registry.ts"
import { parseMetrics } from "../../../support/assertions/metrics.ts"
import { integrationClient } from "../../../support/fixtures/integrations.ts"
import { findClosedPort } from "../../../support/servers/proxy.ts"
import { type Receiver, startReceiver } from "../../../support/servers/receiver.ts"
import { type Service, startService } from "../../../support/servers/service.ts"
import { eventually, type RunningWorker, startWorker } from "../../../support/servers/worker.ts"

describe("The metrics of events", () => {
  let service: Service
  let receiver: Receiver
  const running: Array<RunningWorker> = []
  beforeAll(async () => {
    service = await startService({})
    receiver = await startReceiver()
  })
  afterAll(async () => {
    await Promise.all(running.map(({ stop }) => stop()))
    await receiver.stop()
    await service.stop()
  })

  /** Starts a worker. Returns how to read one value of its metrics. */
  const start = async (name: WorkerName) => {
    const port = await findClosedPort()
    const worker = await startWorker({ settings: { ...service.settings, METRICS_PORT: port } }, name)
    running.push(worker)
    const readValue = async (metric: string, labels: Readonly<Record<string, string>> = {}) => {
      const samples = parseMetrics(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text())
      const found = samples.find(
        (sample) =>
          sample.name === metric && Object.entries(labels).every(([label, value]) => sample.labels[label] === value)
      )
      return found?.value
    }
    return { readValue, stop: worker.stop }
  }

  it("show which of two relays leads, and the other one after the first has stopped", async () => {
    const first = await start("relay")
    await eventually(async () => (await first.readValue("relay_leading")) === 1, "the first relay leads")
    const second = await start("relay")
    assert.strictEqual(await second.readValue("relay_leading"), 0)
    await first.stop()
    await eventually(async () => (await second.readValue("relay_leading")) === 1, "the second relay leads")
  })

  it("measure the time from a change to its delivery, without redeliveries on request", async () => {
    const { readValue } = await start("delivery")
    const tenant = await service.newTenant()
    const { call, mustCreate } = integrationClient(service, tenant)
    const config = { url: receiver.url }
    const { id } = await mustCreate({ provider: "WEBHOOK", name: "Webhook", config })
    const delivered = () => readValue("delivery_attempts_total", { outcome: "DELIVERED" })
    const measured = (part: string) => readValue(`event_delivery_seconds_${part}`, { provider: "WEBHOOK" })
    assert.strictEqual(await measured("count"), 0)
    const startedAt = Date.now()
    await call("POST", `/${id}/ping`)
    await eventually(async () => (await delivered()) === 1, "the event is delivered")
    assert.strictEqual(await measured("count"), 1)
    const seconds = (await measured("sum")) ?? 0
    assert.isAbove(seconds, 0)
    assert.isAtMost(seconds, (Date.now() - startedAt) / 1000)

    const [delivery] = (await call("GET", `/${id}/deliveries`)).body.data
    await call("POST", `/${id}/deliveries/${delivery.id}/redeliver`)
    await eventually(async () => (await delivered()) === 2, "the event is delivered again")
    assert.strictEqual(await measured("count"), 1)
  })

  it("tell which version of the service and of Node.js a process runs", async () => {
    const { readValue } = await start("janitor")
    assert.strictEqual(await readValue("build_info", { version: manifest.version, node: process.versions.node }), 1)
  })

  it("show no connection to NATS in a worker that uses none, instead of a lost one", async () => {
    const { readValue } = await start("janitor")
    assert.isUndefined(await readValue("nats_connected"))
  })
})
