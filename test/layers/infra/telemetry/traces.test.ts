import { connect } from "nats"
import { afterAll, assert, beforeAll, describe, inject, it } from "vitest"
import { makeNatsNames } from "../../../../src/layers/infra/nats/NatsNames.ts"
import { workerNames } from "../../../../src/workers/registry.ts"
import { parseMetrics } from "../../../support/assertions/metrics.ts"
import { integrationClient } from "../../../support/fixtures/integrations.ts"
import { type ApiProcesses, bundleApi, prepareApiProcesses } from "../../../support/servers/apiProcesses.ts"
import { type Collector, startCollector } from "../../../support/servers/collector.ts"
import { type Receiver, startReceiver } from "../../../support/servers/receiver.ts"
import { type Service, startService } from "../../../support/servers/service.ts"
import { eventually, type RunningWorker, startWorker } from "../../../support/servers/worker.ts"

const traceId = "0af7651916cd43dd8448eb211c80319c"
const traceparent = `00-${traceId}-b7ad6b7169203331-01`

/** The statements that a process has sent so far. */
const countStatements = async (url: string) => {
  const samples = parseMetrics(await (await fetch(url)).text())
  return samples.find(({ name }) => name === "postgres_pool_wait_seconds_count")?.value ?? 0
}

describe("A trace", () => {
  const namespace = "traces"
  const names = makeNatsNames(namespace)
  let collector: Collector
  let receiver: Receiver
  let processes: ApiProcesses
  /** The operations that were called. */
  const called: Array<string> = []
  let pulledTraceparent: string | undefined
  beforeAll(async () => {
    await bundleApi()
    collector = await startCollector()
    receiver = await startReceiver()
    processes = await prepareApiProcesses({
      METRICS_PORT: "0",
      NATS_NAMESPACE: namespace,
      NATS_STREAM_MAX_BYTES: String(16 * 1024 ** 2),
      DELIVERY_ALLOW: "127.0.0.0/8",
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url
    })
    const api = await processes.start()
    const workers = await Promise.all(workerNames.map(processes.startWorker))
    await idle(api.url, workers)
    await createClient(api.url)
    // Stopping flushes the exporters.
    await Promise.all([api, ...workers].map(({ stop }) => stop()))
  }, 120_000)
  afterAll(async () => {
    await processes.stopAll()
    await receiver.stop()
    collector.close()
  })

  const idle = async (api: string, workers: ReadonlyArray<{ readonly url: string }>) => {
    for (const path of ["/healthz", "/readyz"]) assert.strictEqual((await fetch(api + path)).status, 200)
    await eventually(
      async () => {
        const counts = await Promise.all(workers.map(({ url }) => countStatements(url)))
        return counts.every((count) => count >= 5)
      },
      "every worker has polled several times",
      60
    )
  }

  /** Creates a client whose event a webhook and a consumer receive. */
  const createClient = async (api: string) => {
    const authorization = `Bearer ${await processes.token("owner")}`
    const call = async (operation: string, path: string, body: unknown, tenant = "", headers = {}) => {
      called.push(operation)
      const response = await fetch(`${api}/api/v1${path}`, {
        method: "POST",
        headers: { authorization, "content-type": "application/json", "tenant-id": tenant, ...headers },
        body: JSON.stringify(body)
      })
      assert.strictEqual(response.status, 201, path)
      const { data } = JSON.parse(await response.text())
      return String(data.id)
    }
    const tenant = await call("tenants.create", "/tenants", { name: "Traced" })
    const subscribe = async (integration: object) => {
      const id = await call("integrations.create", "/integrations", { name: "Traced", ...integration }, tenant)
      const subscription = { eventType: "client.created" }
      await call("integrations.subscribe", `/integrations/${id}/subscriptions`, subscription, tenant)
      return id
    }
    await subscribe({ provider: "WEBHOOK", config: { url: receiver.url } })
    const pulled = await subscribe({ provider: "NATS" })
    await call("clients.create", "/clients", { name: "Traced" }, tenant, { traceparent })

    await eventually(() => receiver.received.length === 1, "the webhook arrives")
    const broker = await connect({ servers: inject("natsUrl") })
    const consumer = await broker.jetstream().consumers.get(names.integrations.stream, pulled)
    pulledTraceparent = (await consumer.next())?.headers?.get("traceparent")
    await broker.close()
  }

  it("begins in a request to the API, and not in an idle loop, a health check or a scrape", () => {
    assert.isNotEmpty(collector.received.filter(({ path }) => path === "/v1/logs"))
    const spans = collector.spans()
    const knownSpans = new Set(spans.map(({ spanId }) => spanId))
    const first = spans.filter(({ parentSpanId }) => !knownSpans.has(parentSpanId ?? ""))
    assert.sameMembers(
      first.map(({ name }) => name),
      called
    )
  })

  it("goes from a request through the event and NATS to the receivers", () => {
    const spans = collector.spans().filter((span) => span.traceId === traceId)
    const named = (name: string) => spans.filter((span) => span.name === name)
    const [request] = named("clients.create")
    assert.strictEqual(request?.parentSpanId, "b7ad6b7169203331")
    assert.isNotEmpty(named("sql.execute"))
    const [published] = named("Relay.publish")
    assert.strictEqual(published?.process, "relay")
    const [fannedOut] = named("FanOut.fanOut")
    assert.strictEqual(fannedOut?.process, "delivery")
    assert.strictEqual(fannedOut?.parentSpanId, published?.spanId)
    const attempts = named("SendAttempt.run")
    assert.sameMembers(
      [receiver.received[0]?.headers["traceparent"], pulledTraceparent],
      attempts.map(({ spanId }) => `00-${traceId}-${spanId}-01`)
    )
    assert.notInclude(receiver.received[0]?.text, traceId)
    const knownSpans = new Set(spans.map(({ spanId }) => spanId))
    for (const { name, parentSpanId } of spans)
      assert.isTrue(parentSpanId === "b7ad6b7169203331" || knownSpans.has(parentSpanId ?? ""), name)
  })
})

describe("Without an exporter", () => {
  let service: Service
  let receiver: Receiver
  let running: ReadonlyArray<RunningWorker>
  beforeAll(async () => {
    service = await startService({})
    receiver = await startReceiver()
    running = [await startWorker(service, "relay"), await startWorker(service, "delivery")]
  })
  afterAll(async () => {
    await Promise.all(running.map(({ stop }) => stop()))
    await receiver.stop()
    await service.stop()
  })

  it("a webhook carries the traceparent of the request that caused it, and none where the request had none", async () => {
    const tenant = await service.newTenant()
    const { call, mustCreate } = integrationClient(service, tenant)
    const { id } = await mustCreate({ provider: "WEBHOOK", name: "Webhook", config: { url: receiver.url } })
    const ping = async (headers: Readonly<Record<string, string>>) => {
      const event = (await call("POST", `/${id}/ping`, undefined, headers)).body.data
      const find = () => receiver.received.find(({ text }) => JSON.parse(text).id === event.id)
      await eventually(() => find() !== undefined, "the webhook arrives")
      return find()?.headers["traceparent"]
    }
    assert.strictEqual(await ping({ traceparent }), traceparent)
    assert.strictEqual(
      await ping({ traceparent: `00-${traceId}-b7ad6b7169203331-00` }),
      `00-${traceId}-b7ad6b7169203331-00`
    )
    assert.isUndefined(await ping({}))
    assert.isUndefined(await ping({ traceparent: "malformed" }))
  })
})
