import { Context, Effect, Exit, Layer, Scope } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { withProbes } from "../../../src/http/WorkerProbes.ts"
import { DeliveryMetrics } from "../../../src/layers/delivery/DeliveryMetrics.ts"
import { parseMetrics } from "../../support/assertions/metrics.ts"
import { insertDelivery, insertEventRow, insertIntegration } from "../../support/fixtures/deliveryRows.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { type ApiProcesses, bundleApi, prepareApiProcesses } from "../../support/servers/apiProcesses.ts"
import { testLayers } from "../../support/servers/layers.ts"
import { findClosedPort } from "../../support/servers/proxy.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"
import { eventually } from "../../support/servers/worker.ts"

const gauges = [
  "outbox_events",
  "outbox_oldest_seconds",
  "feed_waiting_events",
  "deliveries_due",
  "deliveries_in_flight",
  "deliveries_oldest_due_seconds",
  "delivery_slow_receivers"
]

const readMetrics = async (address: string) => {
  const response = await fetch(address)
  assert.strictEqual(response.status, 200)
  const samples = parseMetrics(await response.text())
  return (name: string, label?: string) =>
    samples.find((sample) => sample.name === name && Object.values(sample.labels)[0] === label)?.value
}

describe("The delivery metrics", () => {
  const at = useFixture(() => startServiceWithPool({}))

  it("show the backlog", async () => {
    const idle = await readMetrics(`${at().service.url}/metrics`)
    for (const name of gauges) assert.strictEqual(idle(name), 0, name)

    const tenant = await at().service.newTenant()
    const { rows } = await at().pool.query<{ count: number }>("select count(*)::int from outbox")
    await at().pool.query("update events set occurred_at = now() - interval '100 seconds'")
    const integration = await insertIntegration(at().pool, tenant)
    const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString()
    await at().pool.query("update integrations set latency_class = 'SLOW' where id = $1", [integration])
    await insertEventRow(at().pool, tenant, { fannedOut: false })
    for (const delivery of [
      { status: "PENDING", nextAttemptAt: ago(50) },
      { status: "PENDING", nextAttemptAt: ago(20) },
      { status: "PENDING", nextAttemptAt: ago(-60) },
      { status: "PENDING", nextAttemptAt: ago(90), lease: "me" },
      { status: "WAITING", nextAttemptAt: ago(90) },
      { status: "DELIVERED" }
    ] as const) {
      await insertDelivery(at().pool, tenant, integration, delivery)
    }
    // The gauges are cached for a second.
    let busy = idle
    await eventually(async () => {
      busy = await readMetrics(`${at().service.url}/metrics`)
      return busy("delivery_slow_receivers") === 1
    }, "the gauges are read again")
    assert.strictEqual(busy("outbox_events"), rows[0]?.count)
    assert.closeTo(busy("outbox_oldest_seconds") ?? 0, 100, 10)
    assert.strictEqual(busy("feed_waiting_events"), 1)
    assert.strictEqual(busy("deliveries_due"), 2)
    assert.strictEqual(busy("deliveries_in_flight"), 1)
    assert.closeTo(busy("deliveries_oldest_due_seconds") ?? 0, 50, 10)
    assert.strictEqual(busy("delivery_slow_receivers"), 1)
  })

  it("count the work of a worker and omit the backlog without a database", async () => {
    const port = await findClosedPort()
    const scope = Effect.runSync(Scope.make())
    const live = Layer.merge(DeliveryMetrics.Default, withProbes(Layer.empty))
    const unreachableUrl = `postgres://nobody@127.0.0.1:${await findClosedPort()}/none`
    const built = await Effect.runPromise(
      Layer.buildWithScope(Layer.provide(live, testLayers(unreachableUrl, { METRICS_PORT: String(port) })), scope)
    )
    const { countAttempts, countCapped, countPublished, setSlotsInUse } = Context.get(built, DeliveryMetrics)
    countAttempts("FAILED")
    countAttempts("DELIVERED", 3)
    countPublished(7)
    setSlotsInUse("SLOW", 5)
    countCapped("TENANT", 2)
    const metrics = await readMetrics(`http://127.0.0.1:${port}/metrics`)
    assert.strictEqual(metrics("delivery_attempts_total", "DELIVERED"), 3)
    assert.strictEqual(metrics("delivery_attempts_total", "FAILED"), 1)
    assert.strictEqual(metrics("delivery_attempts_total", "LOST"), 0)
    assert.strictEqual(metrics("events_published_total"), 7)
    assert.strictEqual(metrics("delivery_slots_in_use", "SLOW"), 5)
    assert.strictEqual(metrics("delivery_slots_in_use", "PROVEN"), 0)
    assert.strictEqual(metrics("delivery_claims_capped_total", "TENANT"), 2)
    assert.strictEqual(metrics("delivery_claims_capped_total", "POOL"), 0)
    assert.isAbove(metrics("process_resident_memory_bytes") ?? 0, 0)
    for (const name of gauges) assert.isUndefined(metrics(name), name)
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })
})

describe("A worker", () => {
  let processes: ApiProcesses
  beforeAll(async () => {
    await bundleApi()
    processes = await prepareApiProcesses({ METRICS_PORT: "0" })
  })
  afterAll(() => processes.stopAll())

  it("serves its metrics and health checks on METRICS_PORT and nothing else", async () => {
    const { url } = await processes.startWorker("janitor")
    const metrics = await readMetrics(url)
    for (const name of gauges) assert.strictEqual(metrics(name), 0, name)
    const statusOf = async (path: string) => (await fetch(url.replace("/metrics", path))).status
    assert.deepStrictEqual([await statusOf("/healthz"), await statusOf("/readyz")], [200, 200])
    assert.deepStrictEqual([await statusOf("/docs"), await statusOf("/api/v1/clients")], [404, 404])
  })
})
