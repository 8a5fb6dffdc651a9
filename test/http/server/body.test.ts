import { once } from "node:events"
import { type IncomingMessage, request } from "node:http"
import { connect } from "node:net"
import { Readable } from "node:stream"
import { text } from "node:stream/consumers"
import { afterAll, assert, beforeAll, describe, it, vi } from "vitest"
import { assertFailure, assertValidationError, type ExpectedError } from "../../support/assertions/failures.ts"
import { openPool } from "../../support/servers/database.ts"
import { type RawRequest, sendRaw, singleConnectionAgent } from "../../support/servers/rawHttp.ts"
import { type Service, startService } from "../../support/servers/service.ts"

const mebibyte = 1024 * 1024
const waitOptions = { timeout: 60_000 }

const notJson: ExpectedError = ["body", "format", "is not valid JSON"]
const notUtf8: ExpectedError = ["body", "format", "is not valid UTF-8"]
const notObject: ExpectedError = ["body", "type", "must be an object"]
const tooDeep: ExpectedError = ["body", "format", "must be nested at most 200 levels deep"]
const tooManyValues: ExpectedError = ["body", "maxItems", "must have at most 65536 values"]
const missing: ExpectedError = ["body", "required", "is required"]

const unsupported = `{"error":"UnsupportedMediaType","message":"Send the body as Content-Type: application/json"}`
const tooLarge = `{"error":"PayloadTooLarge","message":"The body may have at most 1048576 bytes"}`

/** A valid body, padded with white space to the number of bytes. */
const padded = (bytes: number) => Buffer.from(`{"name":"Padded"}`.padEnd(bytes))

/** The bytes in chunks, which go without a Content-Length. */
const inChunks = (bytes: Buffer) =>
  Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, index) =>
    bytes.subarray(index * 65_536, (index + 1) * 65_536)
  )

function* endless(chunk: Buffer) {
  while (true) yield chunk
}

describe("A request body", () => {
  let service: Service
  let identity: Record<string, string>
  beforeAll(async () => {
    service = await startService({})
    identity = { authorization: `Bearer ${await service.token("owner")}`, "tenant-id": await service.newTenant() }
  })
  afterAll(() => service.stop())

  const post = (body: RawRequest["body"], headers: Record<string, string> = {}, more: Partial<RawRequest> = {}) =>
    sendRaw(service.url, {
      method: "POST",
      path: "/api/v1/clients",
      headers: { ...identity, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body }),
      ...more
    })

  it.each<[string, string | Buffer, ExpectedError]>([
    ["is malformed", `{"name":}`, notJson],
    ["is truncated", `{"name":"Nor`, notJson],
    ["has text after its end", `{"name":"Northwind"}}`, notJson],
    ["is only white space", "  \n", notJson],
    ["has a value that JSON does not have", `{"name":NaN}`, notJson],
    ["starts with a byte order mark", `\ufeff{"name":"Northwind"}`, notJson],
    ["is UTF-16", Buffer.from(`{"name":"Northwind"}`, "utf16le"), notJson],
    ["is Latin-1", Buffer.from(`{"name":"Café"}`, "latin1"), notUtf8],
    ["is cut inside a character", Buffer.from(`{"name":"Café`).subarray(0, -1), notUtf8],
    ["has a surrogate in UTF-8", Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), notUtf8],
    ["is overlong UTF-8", Buffer.from([0x22, 0xc0, 0x80, 0x22]), notUtf8],
    ["is null", "null", notObject],
    ["is an array", `[{"name":"Northwind"}]`, notObject],
    ["is a string", `"Northwind"`, notObject],
    ["is a number", "1", notObject],
    ["is true", "true", notObject],
    ["is an array nested to the maximum depth", `${"[".repeat(200)}${"]".repeat(200)}`, notObject],
    ["is nested one level too deep", `${"[".repeat(201)}${"]".repeat(201)}`, tooDeep],
    ["is nested too deep for a call stack", `${"[".repeat(100_000)}${"]".repeat(100_000)}`, tooDeep],
    ["is nested too deep and never closed", "[".repeat(100_000), tooDeep],
    ["is an array with the maximum of values", `[${"1,".repeat(65_534)}1]`, notObject],
    ["has one value too many", `[${"1,".repeat(65_535)}1]`, tooManyValues],
    ["has very many empty objects", `[${"{},".repeat(300_000)}{}]`, tooManyValues],
    ["is empty", "", missing]
  ])("that %s is rejected", async (_, body, error) => {
    assertValidationError(await post(body), error)
  })

  it("that is missing is reported as required", async () => {
    assertValidationError(await post(undefined), missing)
    assertValidationError(await post([]), missing)
  })

  it("with 60 000 unknown properties is rejected with the first 100 of them", async () => {
    const response = await post(`{${Array.from({ length: 60_000 }, (_, index) => `"k${index}":1`).join(",")}}`)
    const unknown = (_: unknown, index: number): ExpectedError => [`k${index}`, "unknown", "is not a known property"]
    assertValidationError(response, ...Array.from({ length: 100 }, unknown))
  })

  it("with a duplicate key has the last value", async () => {
    const response = await post(`{"name":"First","name":"Last"}`)
    assert.strictEqual(response.status, 201)
    assert.strictEqual(JSON.parse(response.text).data.name, "Last")
  })

  it.each([
    "application/json",
    "application/json; charset=utf-8",
    "application/json;charset=UTF-8",
    "Application/JSON ; charset=utf-8"
  ])("of type %s is accepted", async (type) => {
    assert.strictEqual((await post(`{"name":"Northwind"}`, { "content-type": type })).status, 201)
  })

  it.each([
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "text/plain",
    "text/json",
    "application/jsonp",
    "application/json-patch+json",
    "application/merge-patch+json",
    ""
  ])("of type '%s' is rejected with 415", async (type) => {
    assertFailure(await post(`{"name":"Northwind"}`, { "content-type": type }), 415, unsupported)
  })

  it("without a type is rejected with 415", async () => {
    assertFailure(await post(`{"name":"Northwind"}`, {}, { headers: identity }), 415, unsupported)
  })

  it("of the maximum size is accepted and of one byte more rejected with 413", async () => {
    assert.strictEqual((await post(padded(mebibyte))).status, 201)
    assert.strictEqual((await post(inChunks(padded(mebibyte)))).status, 201)
    assertFailure(await post(padded(mebibyte + 1)), 413, tooLarge)
    assertFailure(await post(inChunks(padded(mebibyte + 1))), 413, tooLarge)
  })

  it.each([
    ["with Content-Length", (bytes: Buffer) => bytes],
    ["in chunks", inChunks]
  ])("of 12 MiB, sent %s, gets a readable 413 and leaves the connection usable", async (_, form) => {
    const agent = singleConnectionAgent()
    assertFailure(await post(form(padded(12 * mebibyte)), {}, { agent }), 413, tooLarge)
    assert.strictEqual((await post(`{"name":"Next"}`, {}, { agent })).status, 201)
    agent.destroy()
  })

  it("that never ends gets a 413 while it is being sent", async () => {
    const agent = singleConnectionAgent()
    const { hostname, port } = new URL(service.url)
    const headers = { ...identity, "content-type": "application/json" }
    const outgoing = request({ hostname, port, agent, method: "POST", path: "/api/v1/clients", headers })
    Readable.from(endless(Buffer.alloc(mebibyte, " "))).pipe(outgoing)
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.on("response", resolve)
      outgoing.on("error", reject)
    })
    assert.deepStrictEqual([response.statusCode, await text(response)], [413, tooLarge])
    outgoing.destroy()
    agent.destroy()
  })

  it("that is too large is rejected by an operation without a body", async () => {
    const path = "/api/v1/clients/clnt_unknown"
    assertFailure(await post(padded(2 * mebibyte), {}, { method: "DELETE", path }), 413, tooLarge)
  })

  it("is not read before authentication", async () => {
    const agent = singleConnectionAgent()
    const more = { agent, headers: { "content-type": "text/plain" } }
    const unauthorized = `{"error":"Unauthorized","message":"Unauthorized"}`
    assertFailure(await post(padded(12 * mebibyte), {}, more), 401, unauthorized)
    assertFailure(await post("{", {}, more), 401, unauthorized)
    agent.destroy()
  })

  it("whose client disconnects during authorization ends the request", async () => {
    const pool = openPool(service.database.url)
    const holder = await pool.connect()
    await holder.query("begin; lock table members in access exclusive mode")
    const socket = connect(Number(new URL(service.url).port), "127.0.0.1")
    // The member is looked up before a body of this size.
    const head = Object.entries({ host: "test", ...identity, "content-length": String(mebibyte / 2) })
    socket.write(
      `POST /api/v1/clients HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n{`
    )
    const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    await vi.waitFor(async () => assert.lengthOf((await pool.query(waiting)).rows, 1), waitOptions)
    socket.destroy()
    await once(socket, "close")
    // The server accepts this connection after it has seen the end of the earlier one.
    assert.strictEqual((await service.call("GET", "/healthz")).status, 200)
    await holder.query("rollback")
    holder.release()
    await pool.end()
    await vi.waitFor(async () => {
      const { text } = await service.call("GET", "/metrics")
      assert.include(text, "\nhttp_requests_in_flight 1\n", "only the request for the metrics is in flight")
    }, waitOptions)
  })
})
