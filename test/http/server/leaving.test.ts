import { request } from "node:http"
import { assert, beforeAll, describe, it, onTestFinished, vi } from "vitest"
import { parseMetrics } from "../../support/assertions/metrics.ts"
import { invoiceClient } from "../../support/fixtures/invoices.ts"
import { makeReadGate } from "../../support/fixtures/tableGate.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithTenant } from "../../support/servers/serviceWithPool.ts"

describe("a caller who leaves before the PDF of a draft is drawn", () => {
  const at = useFixture(() => startServiceWithTenant({ DATABASE_POOL: "2" }))
  let token: string
  beforeAll(async () => {
    token = await at().service.token("owner")
  })

  const until = (isSo: () => Promise<boolean>) => vi.waitUntil(isSo, { timeout: 20_000, interval: 10 })
  const samples = async () => parseMetrics((await at().service.call("GET", "/metrics")).text)
  /** Beside the request that asks. */
  const underWay = async () =>
    ((await samples()).find(({ name }) => name === "http_requests_in_flight")?.value ?? 0) - 1
  const countOf = async (status: string) =>
    (await samples()).find(
      ({ labels, name }) =>
        name === "http_request_duration_seconds_count" &&
        labels["operation"] === "invoices.pdf" &&
        labels["status"] === status
    )?.value ?? 0

  const draftOf = async (lines: number) => {
    const { service, tenant } = at()
    const invoicing = invoiceClient(service, tenant)
    const { id } = await invoicing.draft()
    for (let left = lines; left > 0; left -= 1000) {
      await invoicing.add(id, ...Array.from({ length: Math.min(1000, left) }, (_, n) => ({ name: `Station ${n}` })))
    }
    return `/api/v1/invoices/${id}/pdf`
  }
  const headers = () => ({ authorization: `Bearer ${token}`, "tenant-id": at().tenant })
  /** A request whose caller does not wait for the answer. */
  const askAndLeave = (path: string) => {
    const asking = request(at().service.url + path, { headers: headers(), agent: false })
    asking.on("error", () => {}).end()
    return () => asking.destroy()
  }
  const assertServed = async (path: string) => {
    const response = await fetch(at().service.url + path, { headers: headers() })
    assert.strictEqual(response.status, 200)
    assert.strictEqual(Buffer.from(await response.arrayBuffer()).toString("latin1", 0, 5), "%PDF-")
  }

  it("has it given up while it is drawn, and the next is served", async () => {
    const path = await draftOf(5000)
    const [left, served] = [await countOf("499"), await countOf("200")]
    const leave = askAndLeave(path)
    await until(async () => (await underWay()) === 1)
    leave()
    await until(async () => (await countOf("499")) === left + 1)
    assert.strictEqual(await underWay(), 0)
    assert.strictEqual(await countOf("200"), served)
    await assertServed(await draftOf(1))
  })

  it("has it given up while it is read or waits for its turn, and no connection is lost", async () => {
    const path = await draftOf(1)
    const left = await countOf("499")
    const gate = await makeReadGate(at().pool, "billables")
    onTestFinished(gate.open)
    await gate.close()
    const leaving = Array.from({ length: 5 }, () => askAndLeave(path))
    await until(async () => (await underWay()) === leaving.length)
    await gate.until(1)
    for (const leave of leaving) leave()
    await until(async () => (await countOf("499")) === left + leaving.length - 1)
    // A statement that the database is working on is not given up.
    await gate.open()
    await until(async () => (await countOf("499")) === left + leaving.length)
    assert.strictEqual(await underWay(), 0)
    await Promise.all([assertServed(path), assertServed(path), assertServed(path)])
  })
})
