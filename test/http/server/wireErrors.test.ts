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

describe("The HTTP server", () => {
  let service: Service
  let token: string
  let tenant: string
  let client: string
  beforeAll(async () => {
    service = await startService({})
    tenant = await service.newTenant()
    token = await service.token("owner")
    const { body } = await service.api("POST", "/clients", { as: "owner", tenant, body: { name: "Northwind" } })
    client = body.data.id
  })
  afterAll(() => service.stop())

  const validHeaders = () => ({ authorization: `Bearer ${token}`, "tenant-id": tenant })
  const get = (path: string, headers: Record<string, string> = validHeaders()) =>
    sendRaw(service.url, { path, headers })

  it.each([
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
  ])("responds 404 to a path without a route: %s", async (path) => {
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
  ])("responds 404 to an unknown client id: '%s'", async (id) => {
    assertFailure(await get(`/api/v1/clients/${id}`), 404, notFoundText)
  })

  it("responds 401 before it looks at a path parameter that is too long", async () => {
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
  ])("responds 404 to a method without a route: %s %s", async (method, path) => {
    assertFailure(await sendRaw(service.url, { method, path, headers: validHeaders() }), 404, notFoundText)
  })

  it("finds the route of an address with escapes, an unknown query or an absolute URL", async () => {
    const { text } = await get(`/api/v1/clients/${client}`)
    for (const path of [
      `/api/v1/%63lients/${client}`,
      `/api/v1/clients/${client.replace("c", "%63")}`,
      `/api/v1/clients/${client}?`,
      `/api/v1/clients/${client}?unknown=1&__proto__=2&%zz=3`,
      `${service.url}/api/v1/clients/${client}`
    ]) {
      const response = await get(path)
      assert.deepStrictEqual([response.status, response.text], [200, text], path)
    }
  })

  it.each<[string, Record<string, string>]>([
    ["a missing header", {}],
    ["an empty token", { authorization: "Bearer " }],
    ["another scheme", { authorization: "Basic b3duZXI6b3duZXI=" }],
    ["no scheme", { authorization: "owner" }],
    ["a token that is not a JWT", { authorization: "Bearer owner" }],
    ["an unsigned token", { authorization: "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJvd25lciJ9." }],
    ["a token of 10 000 characters", { authorization: `Bearer ${"a.".repeat(5000)}` }]
  ])("responds 401 to %s, whatever else is invalid", async (_, headers) => {
    for (const path of ["/api/v1/clients", "/api/v1/tenants?limit=no", "/api/v1/tenants/nonsense"]) {
      const response = await get(path, { "tenant-id": "nonsense", ...headers })
      assertFailure(response, 401, unauthorizedText)
      assert.strictEqual(response.headers.get("www-authenticate"), "Bearer")
    }
  })

  it.each(["tnt_", "clnt_a", "TNT_A", "tnt_A", "tnt_a tnt_b", "tnt_a,tnt_b", "tnt_ä", "", `tnt_${"a".repeat(65)}`])(
    "responds 400 to the tenant-id '%s'",
    async (id) => {
      assertValidationError(await get("/api/v1/clients", { ...validHeaders(), "tenant-id": id }), notTenant)
    }
  )

  it("responds 400 to a missing tenant-id before it looks at the path and the body", async () => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "text/plain" }
    const missing: ExpectedError = [
      "tenant-id",
      "required",
      "is required: send the identifier of the tenant in this header"
    ]
    for (const [method, path] of [
      ["GET", "/api/v1/clients"],
      ["PATCH", "/api/v1/clients/nonsense"],
      ["POST", "/api/v1/members"]
    ] as const) {
      assertValidationError(await sendRaw(service.url, { method, path, headers, body: "{" }), missing)
    }
  })

  it("responds 403 to the id of a foreign or unknown tenant", async () => {
    const foreign = await service.newTenant("stranger")
    for (const id of [foreign, "tnt_unknown"]) {
      assertFailure(await get("/api/v1/clients", { ...validHeaders(), "tenant-id": id }), 403, forbiddenText)
    }
  })

  it("returns the caller's x-request-id when it is safe to log, else a generated one", async () => {
    const requestIdFor = async (id: string) =>
      (await get("/api/v1/clients", { ...validHeaders(), "x-request-id": id })).headers.get("x-request-id")
    for (const id of ["a", "trace.1:2-3_4", "Z".repeat(128)]) assert.strictEqual(await requestIdFor(id), id)
    const generated = new Set<string | null>()
    const unsafe = ["", "a b", "a\tb", "a,b", '{"a":1}', "é", "<script>", "Z".repeat(129)]
    for (const id of unsafe) generated.add(await requestIdFor(id))
    assert.strictEqual(generated.size, unsafe.length)
    for (const id of generated) assert.match(id ?? "", /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  })

  const host = "Host: test\r\n"
  it.each([
    ["that is not HTTP", "hello\r\n\r\n"],
    ["with an unknown method", `FETCH /api/v1/clients HTTP/1.1\r\n${host}\r\n`],
    ["with unescaped bytes in its path", `GET /api/v1/clients/é HTTP/1.1\r\n${host}\r\n`],
    ["without a Host header", "GET /api/v1/clients HTTP/1.1\r\nConnection: close\r\n\r\n"],
    [
      "with an unknown expectation",
      `GET /api/v1/clients HTTP/1.1\r\n${host}Connection: close\r\nExpect: miracles\r\n\r\n`
    ],
    ["with a path of 100 000 characters", `GET /${"a".repeat(100_000)} HTTP/1.1\r\n${host}\r\n`],
    [
      "with a header of 100 000 characters",
      `GET /api/v1/clients HTTP/1.1\r\n${host}x-long: ${"a".repeat(100_000)}\r\n\r\n`
    ],
    [
      "with two content lengths",
      `POST /api/v1/clients HTTP/1.1\r\n${host}Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}`
    ],
    ["with an invalid chunk", `POST /api/v1/clients HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\nzz\r\n`]
  ])("responds with a JSON error of status 4xx to a request %s", async (_, bytes) => {
    const response = await sendBytes(service.url, bytes)
    assert.isTrue(response.status >= 400 && response.status < 500, `status ${response.status}`)
    assert.strictEqual(response.headers.get("content-type"), "application/json")
    assert.isNotNull(response.headers.get("x-request-id"))
    const body = JSON.parse(response.text)
    assert.hasAllKeys(body, ["error", "message"])
    assert.isString(body.error)
    assert.isString(body.message)
  })
})
