import { randomBytes } from "node:crypto"
import { assert, describe, it, onTestFinished, vi } from "vitest"
import {
  assertFailure,
  assertTooManyRequests,
  notFoundText,
  unavailableText
} from "../../support/assertions/failures.ts"
import { parseMetrics } from "../../support/assertions/metrics.ts"
import { minimalWebhook } from "../../support/fixtures/integrations.ts"
import { invoiceClient } from "../../support/fixtures/invoices.ts"
import { resourceMaker } from "../../support/fixtures/resources.ts"
import { makeGate, makeReadGate } from "../../support/fixtures/tableGate.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { sendBytes } from "../../support/servers/rawHttp.ts"
import { startService } from "../../support/servers/service.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

/** Of 4 connections, transactions of one key may use 3, and transactions that wait for others may use 1. */
const startWithFourConnections = async () => {
  const started = await startServiceWithPool({ DATABASE_POOL: "4" })
  const { service } = started
  const valueOf = async (metric: string, queue?: string) =>
    parseMetrics((await service.call("GET", "/metrics")).text).find(
      ({ labels, name }) => name === metric && labels["queue"] === queue
    )?.value ?? 0
  const waitUntil = (condition: () => boolean | Promise<boolean>) =>
    vi.waitUntil(condition, { timeout: 10_000, interval: 10 })

  /** Requests of another caller in another tenant. */
  const newNeighbour = async (as = "neighbour") => {
    const tenant = await service.newTenant(as)
    const { id } = await resourceMaker(service, tenant, as).make("clients")
    return {
      read: () => service.api("GET", `/clients/${id}`, { as, tenant }),
      write: () => service.api("POST", "/clients", { as, tenant, body: { name: "Northwind" } })
    }
  }
  return {
    ...started,
    newNeighbour,
    untilQueued: (queue: string, count: number) =>
      waitUntil(async () => (await valueOf("http_requests_queued", queue)) === count),
    /** Waits until the number of requests, without the one for the metrics, is in flight. */
    untilInFlight: (count: number) => waitUntil(async () => (await valueOf("http_requests_in_flight")) === count + 1)
  }
}

describe("A pool of four database connections", () => {
  const at = useFixture(startWithFourConnections)

  it("gives three to the long reads of one caller and lets another caller read", async () => {
    const { newNeighbour, pool, service, untilQueued } = at()
    const invoices = invoiceClient(service, await service.newTenant())
    const { id } = await invoices.invoiceIn("DRAFT")
    const neighbour = await newNeighbour()
    const gate = await makeReadGate(pool, "billables")
    onTestFinished(gate.open)
    await gate.close()
    const explanations = Array.from({ length: 8 }, () => invoices.call("GET", `/invoices/${id}/explain`))
    await gate.untilWaiting(3)
    await untilQueued("writes", 5)
    for (let n = 0; n < 3; n++) assert.strictEqual((await neighbour.read()).status, 200)
    assert.strictEqual(await gate.waiting(), 3)
    await gate.open()
    for (const { body, status } of await Promise.all(explanations)) {
      assert.deepStrictEqual([status, body.data.invoice], [200, id])
    }
  })

  it("gives one to idempotent creations of integrations and lets another caller write", async () => {
    const { newNeighbour, pool, service, untilInFlight } = at()
    const callers = ["first", "second", "third", "fourth", "fifth"]
    const tenants = await Promise.all(callers.map((caller) => service.newTenant(caller)))
    const neighbour = await newNeighbour()
    const gate = await makeGate(pool, "all_integrations", "insert")
    onTestFinished(gate.open)
    await gate.close()
    const creations = callers.map((as, n) =>
      service.api("POST", "/integrations", {
        as,
        tenant: tenants[n] ?? "",
        body: minimalWebhook,
        headers: { "idempotency-key": "one" }
      })
    )
    await untilInFlight(callers.length)
    await gate.untilWaiting(1)
    for (let n = 0; n < 3; n++) assert.strictEqual((await neighbour.write()).status, 201)
    // Lookups of the service come and go; a connection in a transaction stays.
    const openTransactions = `select count(*)::int from pg_stat_activity
       where datname = current_database() and application_name = 'contracting' and xact_start is not null`
    await vi.waitFor(async () => assert.deepStrictEqual((await pool.query(openTransactions)).rows, [{ count: 1 }]))
    assert.strictEqual(await gate.waiting(), 1)
    await gate.open()
    for (const { status, text } of await Promise.all(creations)) assert.strictEqual(status, 201, text)
  })

  it("gives one to lookups of webhook keys, queues 256 of one caller and lets another caller read", async () => {
    const { newNeighbour, pool, service } = at()
    const neighbour = await newNeighbour()
    const gate = await makeReadGate(pool, "webhook_endpoints")
    onTestFinished(gate.open)
    await gate.close()
    const as = await service.token("prober")
    let completed = 0
    const started = performance.now()
    const requests = Array.from({ length: 1 + 256 + 5 }, async () => {
      const key = randomBytes(32).toString("base64url")
      const response = await service.api("POST", `/webhooks/${key}`, { as, body: {} })
      completed++
      return response
    })
    await vi.waitUntil(() => completed === 5, { timeout: 20_000, interval: 10 })
    await gate.untilWaiting(1)
    for (const { status } of await Promise.all([1, 2, 3].map(neighbour.read))) assert.strictEqual(status, 200)
    assert.deepStrictEqual([await gate.waiting(), completed], [1, 5])
    await gate.open()
    const responses = await Promise.all(requests)
    // A look-up waits for five seconds at most, and a slow machine takes longer.
    const isLate = performance.now() - started > 5000
    const rejected = responses.filter(({ status }) => status === 429)
    assert.lengthOf(rejected, 5)
    for (const response of rejected) assertTooManyRequests(response)
    for (const response of responses) {
      if (rejected.includes(response)) continue
      if (isLate && response.status === 503) assertFailure(response, 503, unavailableText)
      else assertFailure(response, 404, notFoundText)
    }
  })
})

describe("GET /integrations/oauth/callback", () => {
  const at = useFixture(startService)

  it("responds without waiting for an announced body", async () => {
    const service = at()
    const path = "/api/v1/integrations/oauth/callback?state=unknown&code=1"
    const announced = await sendBytes(
      service.url,
      `GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 1048576\r\n\r\n`
    )
    const { status, text } = await service.call("GET", path)
    assert.deepStrictEqual([announced.status, announced.text], [status, text])
  })
})
