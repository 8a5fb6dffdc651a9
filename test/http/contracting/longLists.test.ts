import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { type IncomingMessage, request, type ServerResponse } from "node:http"
import { text } from "node:stream/consumers"
import type pg from "pg"
import { assert, describe, it, onTestFinished } from "vitest"
import { maxPageRows } from "../../../src/layers/infra/postgres/repository/ListPageReader.ts"
import { assertTooManyRequests } from "../../support/assertions/failures.ts"
import { parseMetrics } from "../../support/assertions/metrics.ts"
import { insertClients } from "../../support/fixtures/clientRows.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { openPool } from "../../support/servers/database.ts"
import { startProxy } from "../../support/servers/proxy.ts"
import { type Service, startService } from "../../support/servers/service.ts"
import { openLoggedDatabase } from "../../support/servers/statementLog.ts"
import { eventually } from "../../support/servers/worker.ts"

/** The service behind a proxy to a database whose statements are logged. */
const startBehindProxy = async () => {
  const database = await openLoggedDatabase()
  const proxy = await startProxy(database.url)
  const service = await startService({ DATABASE_URL: proxy.url })
  const pool = openPool(database.url)
  const longListTenant = await service.newTenant()
  await insertClients(pool, longListTenant, longListRows, longDescription)
  const stop = async () => {
    await pool.end()
    await service.stop()
    await proxy.stop()
    await database.drop()
  }
  return { database, proxy, service, pool, longListTenant, stop }
}

/** Together long enough that the buffers of a connection hold less than half of the list. */
const longDescription = 1000
const longListPages = 16
const longListRows = longListPages * maxPageRows
const bytesOfPage = maxPageRows * (longDescription + 400)

describe("GET /clients of more than one page of rows", () => {
  const at = useFixture(startBehindProxy)

  const tenantWith = async (count: number) => {
    const tenant = await at().service.newTenant()
    await insertClients(at().pool, tenant, count)
    return tenant
  }

  const pagesDuring = async (work: () => Promise<unknown>) =>
    (await at().database.during(work)).filter((statement) => statement.includes("select string_agg(page.json")).length

  const idsOf = async (pool: pg.Pool, tenant: string) => {
    const { rows } = await pool.query<{ id: string }>(
      `select id from clients where tenant_id = $1 order by "order" nulls last, id`,
      [tenant]
    )
    return rows.map(({ id }) => id)
  }

  /** The server's response objects of lists that the test requests. */
  const captureResponses = () => {
    const responses: Array<ServerResponse> = []
    const record = (message: unknown) => {
      const { request, response } = message as { request: IncomingMessage; response: ServerResponse } // the documented type
      if (request.url === "/api/v1/clients") responses.push(response)
    }
    subscribe("http.server.request.start", record)
    onTestFinished(() => void unsubscribe("http.server.request.start", record))
    return responses
  }

  const headersIn = async (service: Service, tenant: string) => ({
    authorization: `Bearer ${await service.token("owner")}`,
    "tenant-id": tenant
  })

  /** Requests a list and reads only the head of the response. */
  const requestWithoutReading = async (service: Service, tenant: string, requestId = "unread") => {
    const headers = { ...(await headersIn(service, tenant)), "x-request-id": requestId }
    return new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = request(`${service.url}/api/v1/clients`, { headers, agent: false }, resolve)
      outgoing.on("error", reject).end()
    })
  }

  const finishedLists = async () => {
    const { text } = await at().service.call("GET", "/metrics")
    return parseMetrics(text)
      .filter(
        ({ labels, name }) => name === "http_request_duration_seconds_count" && labels.operation === "clients.list"
      )
      .reduce((sum, { value }) => sum + value, 0)
  }

  it("returns every client once and in order, as GET /clients/{clientId} returns it", async () => {
    const { pool, service } = at()
    const tenant = await tenantWith(4 * maxPageRows + 17)
    const as = { as: "owner", tenant }
    const listed = await service.api("GET", "/clients", as)
    assert.strictEqual(listed.status, 200)
    assert.isNull(listed.headers.get("content-length"))
    assert.strictEqual(listed.headers.get("content-type"), "application/json")
    const all: ReadonlyArray<{ readonly id: string }> = listed.body.data
    assert.deepStrictEqual(
      all.map(({ id }) => id),
      await idsOf(pool, tenant)
    )
    assert.strictEqual(listed.text, JSON.stringify({ data: all }))
    for (const n of [0, 1, maxPageRows - 1, maxPageRows, 2 * maxPageRows, all.length - 1]) {
      const single = await service.api("GET", `/clients/${all[n]?.id}`, as)
      assert.deepStrictEqual(single.body.data, all[n])
    }
  })

  it("is streamed from a full page on, and has a content-length below", async () => {
    for (const [count, pages] of [
      [maxPageRows - 1, 1],
      [maxPageRows, 2],
      [maxPageRows + 1, 2]
    ] as const) {
      const tenant = await tenantWith(count)
      const list = async () => {
        const { body, headers } = await at().service.api("GET", "/clients", { as: "owner", tenant })
        assert.lengthOf(body.data, count)
        assert.strictEqual(headers.has("content-length"), count < maxPageRows)
      }
      assert.strictEqual(await pagesDuring(list), pages)
    }
  })

  it("reads one page for a HEAD request", async () => {
    const tenant = await tenantWith(3 * maxPageRows)
    const { service } = at()
    const headers = await headersIn(service, tenant)
    const head = async () => {
      const response = await fetch(`${service.url}/api/v1/clients`, { method: "HEAD", headers })
      assert.deepStrictEqual([response.status, await response.text()], [200, ""])
    }
    assert.strictEqual(await pagesDuring(head), 1)
  })

  const countRows = (list: string) => JSON.parse(list).data.length

  it("reads no further than its readers do, and buffers at most a page for each", { timeout: 60_000 }, async () => {
    const { longListTenant: tenant, service } = at()
    const responses = captureResponses()
    const readers: Array<IncomingMessage> = []
    const stall = async () => {
      for (let n = 0; n < 2; n++) readers.push(await requestWithoutReading(service, tenant))
      await eventually(() => responses.every((response) => response.writableNeedDrain), "all connections are full")
      // While these requests use the same database, a list that does not wait for its reader would read on.
      for (let n = 0; n < 20; n++) await service.api("GET", "/members", { as: "owner", tenant })
    }
    const pages = await pagesDuring(stall)
    assert.isAtMost(pages, (2 * longListPages) / 2, "at most half of the lists is read")
    for (const response of responses) {
      assert.isTrue(response.writableNeedDrain)
      assert.isAtMost(response.writableLength, bytesOfPage)
    }
    for (const list of await Promise.all(readers.map(text))) assert.strictEqual(countRows(list), longListRows)
  })

  it("streams to at most eight readers of a tenant and rejects more until one has finished", {
    timeout: 60_000
  }, async () => {
    const { longListTenant: tenant, service } = at()
    const readers: Array<IncomingMessage> = []
    while (readers.length < 8) readers.push(await requestWithoutReading(service, tenant))
    assertTooManyRequests(await service.api("GET", "/clients", { as: "owner", tenant }))
    const short = await tenantWith(3)
    assert.lengthOf((await service.api("GET", "/clients", { as: "owner", tenant: short })).body.data, 3)
    const [list = assert.fail(), ...others] = await Promise.all(readers.map(text))
    assert.strictEqual(countRows(list), longListRows)
    for (const other of others) assert.isTrue(other === list)
    await eventually(async () => {
      const reader = await requestWithoutReading(service, tenant)
      const again = await text(reader)
      return reader.statusCode === 200 && again === list
    }, "another list is accepted")
  })

  it("stops reading when the reader disconnects", { timeout: 60_000 }, async () => {
    const before = await finishedLists()
    const disconnect = async () => {
      const reader = await requestWithoutReading(at().service, at().longListTenant)
      reader.destroy()
      await eventually(async () => (await finishedLists()) > before, "the list is finished")
    }
    assert.isBelow(await pagesDuring(disconnect), longListPages)
  })

  it("is cut off when the database fails, and the log names the request", { timeout: 60_000 }, async () => {
    const { longListTenant: tenant, proxy, service } = at()
    const responses = captureResponses()
    const reader = await requestWithoutReading(service, tenant, "cut-off-1")
    await eventually(() => responses[0]?.writableNeedDrain === true, "the connection is full")
    await proxy.disconnect()
    const received: Array<Buffer> = []
    reader.on("data", (chunk: Buffer) => received.push(chunk))
    const end = await new Promise((resolve) => {
      reader.on("end", () => resolve("complete"))
      reader.on("error", (error) => resolve(Reflect.get(error, "code")))
    })
    assert.strictEqual(end, "ECONNRESET")
    assert.strictEqual(reader.complete, false)
    assert.throws(() => JSON.parse(Buffer.concat(received).toString()))
    await proxy.restore()
    const line = service.logs.find((line) => line.includes("cut off"))
    assert.include(line, `"requestId":"cut-off-1"`)
    assert.strictEqual((await service.api("GET", "/members", { as: "owner", tenant })).status, 200)
  })
})
