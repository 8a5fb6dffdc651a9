import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { text } from "node:stream/consumers"
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
  const valueOf = async (metric: string) =>
    parseMetrics((await service.call("GET", "/metrics")).text).find(({ name }) => name === metric)?.value ?? 0
  const waitUntil = (condition: () => boolean | Promise<boolean>) =>
    vi.waitUntil(condition, { timeout: 60_000, interval: 10 })

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
    /** Waits until the number of requests, without the one for the metrics, is in flight. */
    untilInFlight: (count: number) => waitUntil(async () => (await valueOf("http_requests_in_flight")) === count + 1)
  }
}

describe("A pool of four database connections", () => {
  const at = useFixture(startWithFourConnections)

  it("gives three to the long reads of one caller and lets another caller read", async () => {
    const { newNeighbour, pool, service, untilInFlight } = at()
    const invoices = invoiceClient(service, await service.newTenant())
    const { id } = await invoices.invoiceIn("DRAFT")
    const neighbour = await newNeighbour()
    const gate = await makeReadGate(pool, "billables")
    onTestFinished(gate.open)
    await gate.close()
    const explanations = Array.from({ length: 8 }, () => invoices.call("GET", `/invoices/${id}/explain`))
    await gate.untilWaiting(3)
    await untilInFlight(explanations.length)
    for (let n = 0; n < 3; n++) assert.strictEqual((await neighbour.read()).status, 200)
    assert.strictEqual(await gate.waiting(), 3)
    await gate.open()
    for (const { body, status } of await Promise.all(explanations)) {
      assert.deepStrictEqual([status, body.data.invoice], [200, id])
    }
  })

  it("gives three to the plain reads of one caller and lets another caller read and write", async () => {
    const { newNeighbour, pool, service, untilInFlight } = at()
    const tenant = await service.newTenant()
    const neighbour = await newNeighbour()
    const gate = await makeReadGate(pool, "contacts")
    onTestFinished(gate.open)
    await gate.close()
    const reads = Array.from({ length: 12 }, () => service.api("GET", "/contacts", { as: "owner", tenant }))
    await gate.untilWaiting(3)
    await untilInFlight(reads.length)
    for (let n = 0; n < 3; n++) {
      assert.strictEqual((await neighbour.read()).status, 200)
      assert.strictEqual((await neighbour.write()).status, 201)
    }
    assert.strictEqual(await gate.waiting(), 3)
    await gate.open()
    for (const { status } of await Promise.all(reads)) assert.strictEqual(status, 200)
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
    for (const created of await Promise.all(creations)) assert.strictEqual(created.status, 201, created.text)
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
    await vi.waitUntil(() => completed === 5, { timeout: 60_000, interval: 10 })
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

/** Opens connections from an address of this machine, and returns what the service sends without a request. */
const openFrom = async (url: string, localAddress: string, count: number) => {
  const { hostname, port } = new URL(url)
  const sockets = Array.from({ length: count }, () => connect({ port: Number(port), host: hostname, localAddress }))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
  })
  for (const socket of sockets) socket.on("error", () => {})
  await Promise.all(sockets.map((socket) => once(socket, "connect")))
  return sockets
}

describe("HTTP connections", () => {
  const at = useFixture(() => startService({ MAX_CONNECTIONS: "12", MAX_CONNECTIONS_PER_ADDRESS: "5" }))

  it("beyond the maximum of an address get 429 and are closed, while other addresses are served", async () => {
    const { url } = at()
    await openFrom(url, "127.0.0.10", 5)
    const [rejected] = await openFrom(url, "127.0.0.10", 1)
    const response = await text(rejected ?? assert.fail())
    assert.match(response, /^HTTP\/1\.1 429 Too Many Requests\r\n/)
    assert.include(response, '"error":"TooManyRequests"')
    const [other] = await openFrom(url, "127.0.0.11", 1)
    other?.write("GET /healthz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
    assert.match(await text(other ?? assert.fail()), /^HTTP\/1\.1 200 OK\r\n/)
  })

  it("beyond the maximum of all get 503, until others are closed", async () => {
    const { url } = at()
    const open: Array<Socket> = []
    for (const n of [20, 21, 22]) open.push(...(await openFrom(url, `127.0.0.${n}`, 4)))
    const connectOnce = async () => {
      const [socket] = await openFrom(url, "127.0.0.30", 1)
      socket?.write("GET /healthz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
      return (await text(socket ?? assert.fail())).slice(9, 12)
    }
    assert.strictEqual(await connectOnce(), "503")
    for (const socket of open) socket.destroy()
    await vi.waitFor(async () => assert.strictEqual(await connectOnce(), "200"), { timeout: 60_000 })
  })
})

describe("HTTP connections of a trusted proxy", () => {
  const limits = { MAX_CONNECTIONS_PER_ADDRESS: "2", TRUSTED_PROXIES: "127.0.0.0/8" }
  const at = useFixture(() => startServiceWithPool(limits))

  it("are as many as it needs, and requests in progress count by the address that it forwards", async () => {
    const { pool, service } = at()
    const tenant = await service.newTenant()
    const gate = await makeReadGate(pool, "contacts")
    onTestFinished(gate.open)
    await gate.close()
    const read = (address: string) =>
      service.api("GET", "/contacts", { as: "owner", tenant, headers: { "x-forwarded-for": address } })
    const waiting = ["198.51.100.1", "198.51.100.1", "198.51.100.2"].map(read)
    await gate.untilWaiting(3)
    assertTooManyRequests(await read("198.51.100.1"))
    await gate.open()
    for (const { status } of await Promise.all(waiting)) assert.strictEqual(status, 200)
    assert.strictEqual((await read("198.51.100.1")).status, 200)
  })
})

describe("GET /integrations/oauth/callback", () => {
  const at = useFixture(() => startService({}))

  it("responds without waiting for an announced body", async () => {
    const service = at()
    const path = "/api/v1/integrations/oauth/callback?state=unknown&code=1"
    const announced = await sendBytes(
      service.url,
      `GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 1048576\r\n\r\n`
    )
    const answered = await service.call("GET", path)
    assert.deepStrictEqual([announced.status, announced.text], [answered.status, answered.text])
  })
})
