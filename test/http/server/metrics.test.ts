import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { notFoundText } from "../../support/assertions/failures.ts"
import { parseMetrics as parse, type Sample } from "../../support/assertions/metrics.ts"
import { findClosedPort } from "../../support/servers/proxy.ts"
import { type Service, startService } from "../../support/servers/service.ts"

describe("GET /metrics", () => {
  let service: Service
  let tenant: string
  beforeAll(async () => {
    service = await startService({})
    tenant = await service.newTenant()
  })
  afterAll(() => service.stop())

  const read = async () => {
    const { headers, status, text } = await service.call("GET", "/metrics")
    assert.strictEqual(status, 200)
    assert.match(headers.get("content-type") ?? "", /^text\/plain; version=0\.0\.4/)
    return parse(text)
  }
  const countOf = (samples: ReadonlyArray<Sample>, operation: string, status: string) =>
    samples.find(
      ({ labels, name }) =>
        name === "http_request_duration_seconds_count" && labels.operation === operation && labels.status === status
    )?.value ?? 0

  it("counts responses by operation and status without ids or paths", async () => {
    const before = await read()
    const list = () => service.api("GET", "/clients", { as: "owner", tenant })
    await Promise.all([list(), list(), list()])
    await service.api("GET", "/clients")
    await service.api("GET", "/clients/clnt_a", { as: "owner", tenant })
    await service.api("GET", "/clients/clnt_b", { as: "owner", tenant })
    await service.call("GET", "/nowhere/1")
    await service.call("GET", "/nowhere/2")
    const after = await read()
    const increase = (operation: string, status: string) =>
      countOf(after, operation, status) - countOf(before, operation, status)
    assert.strictEqual(increase("clients.list", "200"), 3)
    assert.strictEqual(increase("clients.list", "401"), 1)
    assert.strictEqual(increase("clients.get", "404"), 2)
    assert.strictEqual(increase("unknown", "404"), 2)
    assert.strictEqual(increase("/metrics", "200"), 1)
    const text = JSON.stringify(after)
    for (const value of [tenant, "clnt_a", "nowhere", "owner"]) assert.notInclude(text, value)
  })

  it("reports requests in flight, memory and event loop lag", async () => {
    const samples = await read()
    const valueOf = (name: string) => samples.find((sample) => sample.name === name)?.value
    assert.strictEqual(valueOf("http_requests_in_flight"), 1, "the request for the metrics")
    assert.isAbove(valueOf("process_resident_memory_bytes") ?? 0, 0)
    assert.isAbove(valueOf("nodejs_eventloop_lag_seconds") ?? -1, -1)
  })

  it("reports the count of an operation as its last histogram bucket", async () => {
    const samples = await read()
    const buckets = samples.filter(
      ({ labels, name }) => name === "http_request_duration_seconds_bucket" && labels.le === "+Inf"
    )
    assert.isNotEmpty(buckets)
    for (const { labels, value } of buckets) {
      assert.strictEqual(countOf(samples, labels.operation ?? "", labels.status ?? ""), value)
    }
  })

  it("responds 404 on the public port in production", async () => {
    const production = await startService({
      NODE_ENV: "production",
      AUTH_ISSUER: "https://issuer.test",
      AUTH_AUDIENCE: "https://contracting.test",
      SECRETS_KEY: Buffer.alloc(32, 7).toString("base64"),
      SHUTDOWN_DELAY_SECONDS: "0"
    })
    const { status, text } = await production.call("GET", "/metrics")
    assert.deepStrictEqual([status, text], [404, notFoundText])
    assert.strictEqual((await production.call("GET", "/readyz")).status, 200)
    await production.stop()
  })

  it("moves to METRICS_PORT together with the probes and without the API", async () => {
    const port = await findClosedPort()
    const separate = await startService({ METRICS_PORT: String(port) })
    const onPublicPort = await separate.call("GET", "/metrics")
    assert.deepStrictEqual([onPublicPort.status, onPublicPort.text], [404, notFoundText])
    await separate.api("GET", "/clients")

    const metricsUrl = `http://127.0.0.1:${port}`
    const metrics = await fetch(`${metricsUrl}/metrics`)
    assert.strictEqual(metrics.status, 200)
    assert.strictEqual(countOf(parse(await metrics.text()), "clients.list", "401"), 1)
    for (const path of ["/healthz", "/readyz"]) assert.strictEqual((await fetch(metricsUrl + path)).status, 200, path)
    for (const path of ["/api/v1/clients", "/openapi.json", "/docs"]) {
      const response = await fetch(metricsUrl + path)
      assert.deepStrictEqual([response.status, await response.text()], [404, notFoundText], path)
    }
    await separate.stop()
    await fetch(`${metricsUrl}/metrics`).then(
      () => assert.fail("the metrics port still listens"),
      () => {}
    )
  })
})
