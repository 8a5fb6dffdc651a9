import { connect } from "nats"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { retryDelaysMs } from "../../../src/domain/delivery/RetrySchedule.ts"
import type { SettingsShape } from "../../../src/layers/infra/config/Settings.ts"
import { makeNatsNames } from "../../../src/layers/infra/nats/NatsNames.ts"
import { insertDelivery } from "../../support/fixtures/deliveryRows.ts"
import { integrationClient, minimalNats } from "../../support/fixtures/integrations.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { type NatsServer, startNatsServer } from "../../support/servers/nats.ts"
import { type Service, startService } from "../../support/servers/service.ts"
import { startServiceWithTenant } from "../../support/servers/serviceWithPool.ts"
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

const isConsumerPresent = async ({ NATS_NAMESPACE, NATS_URL }: SettingsShape, integration: string) => {
  const connection = await connect({ servers: [...(NATS_URL ?? [])] })
  try {
    const { consumers } = await connection.jetstreamManager()
    const { consumerName, stream } = makeNatsNames(NATS_NAMESPACE).integrations
    return await consumers.info(stream, consumerName(integration)).then(
      () => true,
      () => false
    )
  } finally {
    await connection.close()
  }
}

describe("The reconciliation of consumers", { timeout: 120_000 }, () => {
  const at = useFixture(async () => {
    const nats = await startNatsServer()
    const started = await startServiceWithTenant({ NATS_URL: nats.url })
    const worker = await startWorker(started.service, "delivery")
    const stop = async () => {
      await worker.stop()
      await started.stop()
      await nats.remove()
    }
    return { ...started, worker, stop }
  })

  it("retries deliveries after a round that failed, also when the connection has lasted", async () => {
    const { pool, service, tenant, worker } = at()
    const isLogged = (text: string, after = 0) => worker.lines.slice(after).some((line) => line.includes(text))
    const { id } = await integrationClient(service, tenant).mustCreate(minimalNats)
    await eventually(() => isConsumerPresent(service.settings, id), "the first round has ended")
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString()
    const delivery = await insertDelivery(pool, tenant, id, { status: "PENDING", nextAttemptAt: tomorrow })

    const lineCount = worker.lines.length
    await pool.query("alter table integrations rename to away")
    await eventually(() => isLogged("Consumer reconciliation failed", lineCount), "a round has failed")
    await pool.query("alter table away rename to integrations")
    await eventually(async () => {
      const { rows } = await pool.query("select status from deliveries where id = $1", [delivery])
      return rows[0].status === "DELIVERED"
    }, "the delivery is sent before its time")
    assert.isFalse(isLogged("NATS is not available"), "the connection was lost")
  })
})
