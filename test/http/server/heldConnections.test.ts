import { randomBytes } from "node:crypto"
import { assert, describe, it, onTestFinished, vi } from "vitest"
import { assertFailure, assertTooManyRequests, notFoundText } from "../../support/assertions/failures.ts"
import { parseMetrics } from "../../support/assertions/metrics.ts"
import { minimalWebhook } from "../../support/fixtures/integrations.ts"
import { invoiceClient } from "../../support/fixtures/invoices.ts"
import { resourceMaker } from "../../support/fixtures/resources.ts"
import { makeGate, makeReadGate } from "../../support/fixtures/tableGate.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { sendBytes } from "../../support/servers/rawHttp.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

/** Of four connections three may be held by the transactions of one key, and one by those that wait for others. */
const startOnFour = async () => {
  const started = await startServiceWithPool({ DATABASE_POOL: "4" })
  const { service } = started
  const valueOf = async (metric: string, queue?: string) =>
    parseMetrics((await service.call("GET", "/metrics")).text).find(
      ({ labels, name }) => name === metric && labels["queue"] === queue
    )?.value ?? 0
  const until = (isSo: () => boolean | Promise<boolean>) => vi.waitUntil(isSo, { timeout: 10_000, interval: 10 })

  /** What another caller does in a tenant of its own, ready to be asked. */
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
      until(async () => (await valueOf("http_requests_queued", queue)) === count),
    /** Until so many requests are under way beside the one that asks. */
    untilUnderWay: (count: number) => until(async () => (await valueOf("http_requests_in_flight")) === count + 1)
  }
}

describe("with four connections", () => {
  const at = useFixture(startOnFour)

  it("long reads of one caller hold three, the others wait, and another caller reads meanwhile", async () => {
    const { newNeighbour, pool, service, untilQueued } = at()
    const invoicing = invoiceClient(service, await service.newTenant())
    const { id } = await invoicing.invoiceIn("DRAFT")
    const neighbour = await newNeighbour()
    const gate = await makeReadGate(pool, "billables")
    onTestFinished(gate.open)
    await gate.close()
    const explained = Array.from({ length: 8 }, () => invoicing.call("GET", `/invoices/${id}/explain`))
    await gate.until(3)
    await untilQueued("writes", 5)
    for (let n = 0; n < 3; n++) assert.strictEqual((await neighbour.read()).status, 200)
    assert.strictEqual(await gate.waiting(), 3)
    await gate.open()
    for (const { body, status } of await Promise.all(explained)) {
      assert.deepStrictEqual([status, body.data.invoice], [200, id])
    }
  })

  it("integrations that are made once hold one, whoever makes them, and another caller writes meanwhile", async () => {
    const { newNeighbour, pool, service, untilUnderWay } = at()
    const callers = ["first", "second", "third", "fourth", "fifth"]
    const tenants = await Promise.all(callers.map((caller) => service.newTenant(caller)))
    const neighbour = await newNeighbour()
    const gate = await makeGate(pool, "all_integrations", "insert")
    onTestFinished(gate.open)
    await gate.close()
    const made = callers.map((as, n) =>
      service.api("POST", "/integrations", {
        as,
        tenant: tenants[n] ?? "",
        body: minimalWebhook,
        headers: { "idempotency-key": "one" }
      })
    )
    await untilUnderWay(callers.length)
    await gate.until(1)
    for (let n = 0; n < 3; n++) assert.strictEqual((await neighbour.write()).status, 201)
    // The service's own look-ups come and go; a connection that is held stays.
    const openTransactions = `select count(*)::int from pg_stat_activity
       where datname = current_database() and application_name = 'contracting' and xact_start is not null`
    await vi.waitFor(async () => assert.deepStrictEqual((await pool.query(openTransactions)).rows, [{ count: 1 }]))
    assert.strictEqual(await gate.waiting(), 1)
    await gate.open()
    for (const { status, text } of await Promise.all(made)) assert.strictEqual(status, 201, text)
  })

  it("addresses of webhooks are looked up one at a time, 256 of one caller wait, and another is let in meanwhile", async () => {
    const { newNeighbour, pool, service } = at()
    const neighbour = await newNeighbour()
    const gate = await makeReadGate(pool, "webhook_endpoints")
    onTestFinished(gate.open)
    await gate.close()
    const as = await service.token("prober")
    let answered = 0
    const tried = Array.from({ length: 1 + 256 + 5 }, async () => {
      const key = randomBytes(32).toString("base64url")
      const answer = await service.api("POST", `/webhooks/${key}`, { as, body: {} })
      answered++
      return answer
    })
    await vi.waitUntil(() => answered === 5, { timeout: 10_000, interval: 10 })
    await gate.until(1)
    for (let n = 0; n < 3; n++) assert.strictEqual((await neighbour.read()).status, 200)
    assert.deepStrictEqual([await gate.waiting(), answered], [1, 5])
    await gate.open()
    const answers = await Promise.all(tried)
    const refused = answers.filter(({ status }) => status === 429)
    assert.lengthOf(refused, 5)
    for (const answer of refused) assertTooManyRequests(answer)
    for (const answer of answers) if (!refused.includes(answer)) assertFailure(answer, 404, notFoundText)
  })
})

describe("a callback that announces a body", () => {
  const at = useFixture(startServiceWithPool)

  it("is answered without it", async () => {
    const { service } = at()
    const path = "/api/v1/integrations/oauth/callback?state=unknown&code=1"
    const announced = await sendBytes(
      service.url,
      `GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 1048576\r\n\r\n`
    )
    const { status, text } = await service.call("GET", path)
    assert.deepStrictEqual([announced.status, announced.text], [status, text])
  })
})
