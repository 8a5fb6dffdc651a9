import { request } from "node:http"
import { assert, beforeAll, describe, it, onTestFinished, vi } from "vitest"
import { parseMetrics } from "../../support/assertions/metrics.ts"
import { invoiceClient } from "../../support/fixtures/invoices.ts"
import { makeReadGate } from "../../support/fixtures/tableGate.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithTenant } from "../../support/servers/serviceWithPool.ts"

describe("GET /invoices/{invoiceId}/pdf of a draft", () => {
  const at = useFixture(() => startServiceWithTenant({ DATABASE_POOL: "2" }))
  let token: string
  beforeAll(async () => {
    token = await at().service.token("owner")
  })

  const waitUntil = (condition: () => Promise<boolean>) => vi.waitUntil(condition, { timeout: 60_000, interval: 10 })
  const readSamples = async () => parseMetrics((await at().service.call("GET", "/metrics")).text)
  /** Without the request for the metrics itself. */
  const countInFlight = async () =>
    ((await readSamples()).find(({ name }) => name === "http_requests_in_flight")?.value ?? 0) - 1
  const countResponses = async (status: string) =>
    (await readSamples()).find(
      ({ labels, name }) =>
        name === "http_request_duration_seconds_count" &&
        labels["operation"] === "invoices.pdf" &&
        labels["status"] === status
    )?.value ?? 0

  const createDraft = async (lines: number) => {
    const { service, tenant } = at()
    const invoices = invoiceClient(service, tenant)
    const { id } = await invoices.draft()
    for (let remaining = lines; remaining > 0; remaining -= 1000) {
      await invoices.add(id, ...Array.from({ length: Math.min(1000, remaining) }, (_, n) => ({ name: `Station ${n}` })))
    }
    return `/api/v1/invoices/${id}/pdf`
  }
  const headers = () => ({ authorization: `Bearer ${token}`, "tenant-id": at().tenant })
  /** Sends a request; the returned function disconnects its client. */
  const sendAndDisconnect = (path: string) => {
    const outgoing = request(at().service.url + path, { headers: headers(), agent: false })
    outgoing.on("error", () => {}).end()
    return () => outgoing.destroy()
  }
  const assertServed = async (path: string) => {
    const response = await fetch(at().service.url + path, { headers: headers() })
    assert.strictEqual(response.status, 200)
    assert.strictEqual(Buffer.from(await response.arrayBuffer()).toString("latin1", 0, 5), "%PDF-")
  }

  it("stops rendering when the client disconnects and serves the next request", async () => {
    const path = await createDraft(5000)
    const [disconnected, served] = [await countResponses("499"), await countResponses("200")]
    const disconnect = sendAndDisconnect(path)
    await waitUntil(async () => (await countInFlight()) === 1)
    disconnect()
    await waitUntil(async () => (await countResponses("499")) === disconnected + 1)
    assert.strictEqual(await countInFlight(), 0)
    assert.strictEqual(await countResponses("200"), served)
    await assertServed(await createDraft(1))
  })

  it("stops reading or waiting for a permit when the client disconnects and leaks no database connection", async () => {
    const path = await createDraft(1)
    const disconnected = await countResponses("499")
    const gate = await makeReadGate(at().pool, "billables")
    onTestFinished(gate.open)
    await gate.close()
    const disconnects = Array.from({ length: 5 }, () => sendAndDisconnect(path))
    await waitUntil(async () => (await countInFlight()) === disconnects.length)
    await gate.untilWaiting(1)
    for (const disconnect of disconnects) disconnect()
    await waitUntil(async () => (await countResponses("499")) === disconnected + disconnects.length - 1)
    // A statement that PostgreSQL already runs is not cancelled.
    await gate.open()
    await waitUntil(async () => (await countResponses("499")) === disconnected + disconnects.length)
    assert.strictEqual(await countInFlight(), 0)
    await Promise.all([assertServed(path), assertServed(path), assertServed(path)])
  })
})
