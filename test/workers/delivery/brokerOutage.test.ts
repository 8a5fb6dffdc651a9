import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { retryDelaysMs } from "../../../src/domain/delivery/RetrySchedule.ts"
import { integrationClient, minimalNats } from "../../support/fixtures/integrations.ts"
import { type NatsServer, startNatsServer } from "../../support/servers/nats.ts"
import { type Service, startService } from "../../support/servers/service.ts"
import { eventually, type RunningWorker, startWorker } from "../../support/servers/worker.ts"

const longDelayIndex = 2

describe("A delivery to a NATS integration", { timeout: 120_000 }, () => {
  let nats: NatsServer
  let service: Service
  let running: ReadonlyArray<RunningWorker> = []
  beforeAll(async () => {
    nats = await startNatsServer()
    await nats.stop()
    service = await startService({ NATS_URL: nats.url })
    running = [await startWorker(service, "relay"), await startWorker(service, "delivery")]
  })
  afterAll(async () => {
    await Promise.all(running.map(({ stop }) => stop()))
    await service.stop()
    await nats.remove()
  })

  it("that failed while the broker was away is sent when it is back, without the delay of its next retry", async () => {
    const tenant = await service.newTenant()
    const integrations = integrationClient(service, tenant)
    const { id } = await integrations.mustCreate(minimalNats)
    await integrations.mustSubscribe(id)
    await service.api("POST", "/clients", { as: "owner", tenant, body: { name: "Northwind" } })
    const delivery = async () => (await integrations.call("GET", `/${id}/deliveries`)).body.data[0]

    await eventually(async () => (await delivery())?.attempts === longDelayIndex, "the delivery has failed twice", 60)
    assert.isAtLeast(retryDelaysMs[longDelayIndex] ?? 0, 300_000)
    assert.strictEqual((await delivery()).status, "PENDING")

    await nats.start()
    await eventually(async () => (await delivery()).status === "DELIVERED", "the delivery is sent", 60)
    assert.strictEqual((await delivery()).attempts, longDelayIndex + 1)
  })
})
