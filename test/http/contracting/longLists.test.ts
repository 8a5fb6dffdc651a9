import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { type IncomingMessage, request, type ServerResponse } from "node:http"
import { text } from "node:stream/consumers"
import type pg from "pg"
import { assert, describe, it, onTestFinished } from "vitest"
import { maxPageRows } from "../../../src/layers/postgres/repository/ListPageReader.ts"
import { assertTooManyRequests } from "../../support/assertions/failures.ts"
import { parseMetrics } from "../../support/assertions/metrics.ts"
import { insertClients } from "../../support/fixtures/clientRows.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { openPool } from "../../support/servers/database.ts"
import { startProxy } from "../../support/servers/proxy.ts"
import { type Service, startService } from "../../support/servers/service.ts"
import { openLoggedDatabase } from "../../support/servers/statementLog.ts"
import { eventually } from "../../support/servers/worker.ts"

/** The service behind a door to a database whose statements can be counted. */
const start = async () => {
  const database = await openLoggedDatabase()
  const proxy = await startProxy(database.url)
  const service = await startService({ DATABASE_URL: proxy.url })
  const pool = openPool(database.url)
  const stop = async () => {
    await pool.end()
    await service.stop()
    await proxy.stop()
    await database.drop()
  }
  return { database, proxy, service, pool, stop }
}

/** Pages long enough that a few of them fill whatever lies between two sockets. */
const longDescription = 1000
const bytesOfPage = maxPageRows * (longDescription + 400)

describe("a list of clients that is longer than a page", () => {
  const at = useFixture(start)

  const tenantWith = async (count: number, descriptionLength?: number) => {
    const tenant = await at().service.newTenant()
    await insertClients(at().pool, tenant, count, descriptionLength)
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

  /** The server's side of every list asked for meanwhile. */
  const responsesOf = () => {
    const responses: Array<ServerResponse> = []
    const note = (message: unknown) => {
      const { request, response } = message as { request: IncomingMessage; response: ServerResponse } // by its documentation
      if (request.url === "/api/v1/clients") responses.push(response)
    }
    subscribe("http.server.request.start", note)
    onTestFinished(() => void unsubscribe("http.server.request.start", note))
    return responses
  }

  const headersIn = async (service: Service, tenant: string) => ({
    authorization: `Bearer ${await service.token("owner")}`,
    "tenant-id": tenant
  })

  /** Asks for a list and takes the head of the answer only. */
  const askIdly = async (service: Service, tenant: string, requestId = "idle") => {
    const headers = { ...(await headersIn(service, tenant)), "x-request-id": requestId }
    return new Promise<IncomingMessage>((resolve, reject) => {
      const asked = request(`${service.url}/api/v1/clients`, { headers, agent: false }, resolve)
      asked.on("error", reject).end()
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

  it("is answered whole, in order and each once, in the characters each is shown in alone", async () => {
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
      const alone = await service.api("GET", `/clients/${all[n]?.id}`, as)
      assert.deepStrictEqual(alone.body.data, all[n])
    }
  })

  it("begins where a page is full, and is one text with its length below that", async () => {
    for (const [count, pages] of [
      [maxPageRows - 1, 1],
      [maxPageRows, 2],
      [maxPageRows + 1, 2]
    ] as const) {
      const tenant = await tenantWith(count)
      const ask = async () => {
        const { body, headers } = await at().service.api("GET", "/clients", { as: "owner", tenant })
        assert.lengthOf(body.data, count)
        assert.strictEqual(headers.has("content-length"), count < maxPageRows)
      }
      assert.strictEqual(await pagesDuring(ask), pages)
    }
  })

  it("has a head that can be asked for alone, for one page's reading", async () => {
    const tenant = await tenantWith(3 * maxPageRows)
    const { service } = at()
    const headers = await headersIn(service, tenant)
    const head = async () => {
      const answer = await fetch(`${service.url}/api/v1/clients`, { method: "HEAD", headers })
      assert.deepStrictEqual([answer.status, await answer.text()], [200, ""])
    }
    assert.strictEqual(await pagesDuring(head), 1)
  })

  it("is read no further than callers take it, and holds no more than a page for each", {
    timeout: 60_000
  }, async () => {
    const { service } = at()
    const count = 24 * maxPageRows
    const tenant = await tenantWith(count, longDescription)
    const responses = responsesOf()
    const callers: Array<IncomingMessage> = []
    const stalled = async () => {
      for (let n = 0; n < 4; n++) callers.push(await askIdly(service, tenant))
      await eventually(() => responses.every((response) => response.writableNeedDrain), "every caller's way is full")
      await new Promise((resolve) => setTimeout(resolve, 300))
    }
    const pages = await pagesDuring(stalled)
    assert.isAtMost(pages, (4 * 24) / 2, "most of the lists is not read yet")
    for (const response of responses) {
      assert.isTrue(response.writableNeedDrain)
      assert.isAtMost(response.writableLength, bytesOfPage)
    }
    const lists = await Promise.all(callers.map(text))
    for (const list of lists) assert.lengthOf(JSON.parse(list).data, count)
  })

  it("is written to eight callers of a tenant at a time, and refused to more until one has it", {
    timeout: 60_000
  }, async () => {
    const { service } = at()
    const tenant = await tenantWith(16 * maxPageRows, longDescription)
    const callers: Array<IncomingMessage> = []
    while (callers.length < 8) callers.push(await askIdly(service, tenant))
    assertTooManyRequests(await service.api("GET", "/clients", { as: "owner", tenant }))
    const short = await tenantWith(3)
    assert.lengthOf((await service.api("GET", "/clients", { as: "owner", tenant: short })).body.data, 3)
    const lists = await Promise.all(callers.map(text))
    for (const list of lists) assert.lengthOf(JSON.parse(list).data, 16 * maxPageRows)
    await eventually(async () => {
      const { body, status } = await service.api("GET", "/clients", { as: "owner", tenant })
      return status === 200 && body.data.length === 16 * maxPageRows
    }, "there is room again")
  })

  it("is read no further when the caller leaves", { timeout: 60_000 }, async () => {
    const tenant = await tenantWith(24 * maxPageRows, longDescription)
    const before = await finishedLists()
    const leave = async () => {
      const caller = await askIdly(at().service, tenant)
      caller.destroy()
      await eventually(async () => (await finishedLists()) > before, "the list is given up")
    }
    assert.isBelow(await pagesDuring(leave), 24)
  })

  it("is cut off when its rest cannot be read, and the log says of which request", { timeout: 60_000 }, async () => {
    const { proxy, service } = at()
    const tenant = await tenantWith(24 * maxPageRows, longDescription)
    const responses = responsesOf()
    const caller = await askIdly(service, tenant, "cut-off-1")
    await eventually(() => responses[0]?.writableNeedDrain === true, "the caller's way is full")
    await proxy.cut()
    const received: Array<Buffer> = []
    caller.on("data", (chunk: Buffer) => received.push(chunk))
    const ending = await new Promise((resolve) => {
      caller.on("end", () => resolve("complete"))
      caller.on("error", (error) => resolve(Reflect.get(error, "code")))
    })
    assert.strictEqual(ending, "ECONNRESET")
    assert.strictEqual(caller.complete, false)
    assert.throws(() => JSON.parse(Buffer.concat(received).toString()))
    await proxy.restore()
    const line = service.logs.find((line) => line.includes("cut off"))
    assert.include(line, `"requestId":"cut-off-1"`)
    assert.strictEqual((await service.api("GET", "/members", { as: "owner", tenant })).status, 200)
  })
})
