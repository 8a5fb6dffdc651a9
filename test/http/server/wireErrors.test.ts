import { afterAll, assert, beforeAll, describe, it } from "vitest"
import {
  assertFailure,
  assertValidationError,
  type ExpectedError,
  forbiddenText,
  notFoundText,
  unauthorizedText
} from "../../support/assertions/failures.ts"
import { sendBytes, sendRaw } from "../../support/servers/rawHttp.ts"
import { type Service, startService } from "../../support/servers/service.ts"

const notTenant: ExpectedError = ["tenant-id", "format", "must be a tenant identifier (tnt_…)"]

describe("a request fails in the words of the interface", () => {
  let service: Service
  let token: string
  let tenant: string
  let client: string
  beforeAll(async () => {
    service = await startService()
    tenant = await service.newTenant()
    token = await service.token("owner")
    const { body } = await service.api("POST", "/clients", { as: "owner", tenant, body: { name: "Northwind" } })
    client = body.data.id
  })
  afterAll(() => service.stop())

  const known = () => ({ authorization: `Bearer ${token}`, "tenant-id": tenant })
  const get = (path: string, headers: Record<string, string> = known()) => sendRaw(service.url, { path, headers })

  it.each([
    "/",
    "/api",
    "/api/v1",
    "/api/v1/",
    "/api/v2/clients",
    "/api/v1/nowhere",
    "/api/v1/Clients",
    "/API/V1/clients",
    "//api/v1/clients",
    "/api//v1/clients",
    "/api/v1/clients;version=2",
    "/api/v1/clients%2f",
    "/api/v1/clients%3f",
    "/api/v1/clients%00",
    "/api/v1/clients%20",
    "/api/v1/../v1/clients",
    "/api/v1/%2e%2e/v1/clients",
    "/api/v1/./clients",
    "/api/v1/%zz",
    "/api/v1/%",
    "/api/v1/%c0%af",
    "/docs/../package.json",
    "/docs/%2e%2e/package.json",
    "/docs/%2e%2e%2fpackage.json",
    `/${"long/".repeat(2000)}`,
    "*",
    "http://elsewhere/api/v1/nowhere"
  ])("where there is no route: %s", async (path) => {
    assertFailure(await get(path), 404, notFoundText)
    assertFailure(await get(path, {}), 404, notFoundText)
  })

  it.each([
    "",
    "clnt_unknown",
    "clnt_",
    "tnt_unknown",
    "%00",
    "%zz",
    "%2e%2e",
    "..",
    ".",
    "%2f",
    "%F0%9F%98%80",
    "%ff",
    "%",
    "clnt_%27%3b--",
    "__proto__",
    "constructor",
    `clnt_${"a".repeat(65)}`,
    `clnt_${"a".repeat(8000)}`
  ])("where there is no client '%s'", async (id) => {
    assertFailure(await get(`/api/v1/clients/${id}`), 404, notFoundText)
  })

  it("where a parameter is longer than any identifier, first of all for want of a token", async () => {
    assertFailure(await get(`/api/v1/clients/${"a".repeat(101)}`, {}), 401, unauthorizedText)
  })

  it.each([
    ["PUT", "/api/v1/clients"],
    ["DELETE", "/api/v1/clients"],
    ["PATCH", "/api/v1/clients"],
    ["POST", "/api/v1/clients/clnt_unknown"],
    ["TRACE", "/api/v1/clients"],
    ["PROPFIND", "/api/v1/clients"],
    ["POST", "/healthz"],
    ["DELETE", "/openapi.json"]
  ])("where the method is wrong: %s %s", async (method, path) => {
    assertFailure(await sendRaw(service.url, { method, path, headers: known() }), 404, notFoundText)
  })

  it("but finds an address however it is written", async () => {
    const { text } = await get(`/api/v1/clients/${client}`)
    for (const path of [
      `/api/v1/%63lients/${client}`,
      `/api/v1/clients/${client.replace("c", "%63")}`,
      `/api/v1/clients/${client}?`,
      `/api/v1/clients/${client}?unknown=1&__proto__=2&%zz=3`,
      `${service.url}/api/v1/clients/${client}`
    ]) {
      const answer = await get(path)
      assert.deepStrictEqual([answer.status, answer.text], [200, text], path)
    }
  })

  it.each<[string, Record<string, string>]>([
    ["no token", {}],
    ["an empty one", { authorization: "Bearer " }],
    ["another scheme", { authorization: "Basic b3duZXI6b3duZXI=" }],
    ["no scheme", { authorization: "owner" }],
    ["a token that is none", { authorization: "Bearer owner" }],
    ["a forged one", { authorization: "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJvd25lciJ9." }],
    ["one of any length", { authorization: `Bearer ${"a.".repeat(5000)}` }]
  ])("with 401 for %s, whatever else is wrong", async (_, headers) => {
    for (const path of ["/api/v1/clients", "/api/v1/tenants?limit=no", "/api/v1/tenants/nonsense"]) {
      const answer = await get(path, { "tenant-id": "nonsense", ...headers })
      assertFailure(answer, 401, unauthorizedText)
      assert.strictEqual(answer.headers.get("www-authenticate"), "Bearer")
    }
  })

  it.each(["tnt_", "clnt_a", "TNT_A", "tnt_A", "tnt_a tnt_b", "tnt_a,tnt_b", "tnt_ä", "", `tnt_${"a".repeat(65)}`])(
    "with 400 for a tenant-id of '%s'",
    async (id) => {
      assertValidationError(await get("/api/v1/clients", { ...known(), "tenant-id": id }), notTenant)
    }
  )

  it("with 400 without a tenant-id, before the path and the body are looked at", async () => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "text/plain" }
    const missing: ExpectedError = [
      "tenant-id",
      "required",
      "names the tenant to work in; this operation needs the header"
    ]
    for (const [method, path] of [
      ["GET", "/api/v1/clients"],
      ["PATCH", "/api/v1/clients/nonsense"],
      ["POST", "/api/v1/members"]
    ] as const) {
      assertValidationError(await sendRaw(service.url, { method, path, headers, body: "{" }), missing)
    }
  })

  it("with 403 for a tenant that is not the caller's or is not there", async () => {
    const foreign = await service.newTenant("stranger")
    for (const id of [foreign, "tnt_unknown"]) {
      assertFailure(await get("/api/v1/clients", { ...known(), "tenant-id": id }), 403, forbiddenText)
    }
  })

  it("and each answer names the request: by the caller's own id when that is fit for a log", async () => {
    const answered = async (id: string) =>
      (await get("/api/v1/clients", { ...known(), "x-request-id": id })).headers.get("x-request-id")
    for (const id of ["a", "trace.1:2-3_4", "Z".repeat(128)]) assert.strictEqual(await answered(id), id)
    const made = new Set<string | null>()
    const insane = ["", "a b", "a\tb", "a,b", '{"a":1}', "é", "<script>", "Z".repeat(129)]
    for (const id of insane) made.add(await answered(id))
    assert.strictEqual(made.size, insane.length)
    for (const id of made) assert.match(id ?? "", /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  })

  const host = "Host: test\r\n"
  it.each([
    ["is no HTTP", "hello\r\n\r\n"],
    ["has an unknown method", `FETCH /api/v1/clients HTTP/1.1\r\n${host}\r\n`],
    ["has bytes in its path that must be encoded", `GET /api/v1/clients/é HTTP/1.1\r\n${host}\r\n`],
    ["names no host", "GET /api/v1/clients HTTP/1.1\r\nConnection: close\r\n\r\n"],
    ["expects too much", `GET /api/v1/clients HTTP/1.1\r\n${host}Connection: close\r\nExpect: miracles\r\n\r\n`],
    ["has a path beyond measure", `GET /${"a".repeat(100_000)} HTTP/1.1\r\n${host}\r\n`],
    ["has headers beyond measure", `GET /api/v1/clients HTTP/1.1\r\n${host}x-long: ${"a".repeat(100_000)}\r\n\r\n`],
    ["has two lengths", `POST /api/v1/clients HTTP/1.1\r\n${host}Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}`],
    ["has a broken chunk", `POST /api/v1/clients HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\nzz\r\n`]
  ])("even when it %s", async (_, bytes) => {
    const answer = await sendBytes(service.url, bytes)
    assert.isTrue(answer.status >= 400 && answer.status < 500, `status ${answer.status}`)
    assert.strictEqual(answer.headers.get("content-type"), "application/json")
    assert.isNotNull(answer.headers.get("x-request-id"))
    const body = JSON.parse(answer.text)
    assert.hasAllKeys(body, ["error", "message"])
    assert.isString(body.error)
    assert.isString(body.message)
  })
})
