import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type RawResponse, sendRaw } from "../../support/servers/rawHttp.ts"
import { type Service, startService } from "../../support/servers/service.ts"

const app = "https://app.example.com"
const local = "http://localhost:5173"

const corsHeaders = ({ headers }: RawResponse) =>
  [...headers.keys()].filter((name) => name.startsWith("access-control-"))
const words = (list: string | null) => (list ?? "").split(",").map((word) => word.trim().toLowerCase())

describe("CORS", () => {
  let service: Service
  let identity: Record<string, string>
  beforeAll(async () => {
    service = await startService({ CORS_ORIGINS: `${app}, ${local}` })
    identity = { authorization: `Bearer ${await service.token("owner")}`, "tenant-id": await service.newTenant() }
  })
  afterAll(() => service.stop())

  const get = (origin: string | undefined, headers: Record<string, string> = identity, path = "/api/v1/clients") =>
    sendRaw(service.url, { path, headers: origin === undefined ? headers : { ...headers, origin } })
  const preflight = (origin: string, method: string, path = "/api/v1/clients") =>
    sendRaw(service.url, {
      method: "OPTIONS",
      path,
      headers: {
        origin,
        "access-control-request-method": method,
        "access-control-request-headers": "authorization,content-type,tenant-id,idempotency-key,if-match"
      }
    })

  it.each([app, local])("lets %s read successes and errors with their headers", async (origin) => {
    for (const [status, response] of [
      [200, await get(origin)],
      [401, await get(origin, {})],
      [400, await get(origin, { ...identity, "tenant-id": "nonsense" })],
      [404, await get(origin, identity, "/api/v1/nowhere")]
    ] as const) {
      assert.strictEqual(response.status, status)
      assert.strictEqual(response.headers.get("access-control-allow-origin"), origin)
      assert.include(words(response.headers.get("vary")), "origin")
      assert.includeMembers(words(response.headers.get("access-control-expose-headers")), [
        "etag",
        "link",
        "location",
        "retry-after",
        "x-request-id",
        "idempotent-replayed"
      ])
      assert.isFalse(response.headers.has("access-control-allow-credentials"), "bearer tokens need no credentials mode")
    }
  })

  it.each(["GET", "POST", "PATCH", "PUT", "DELETE"])(
    "allows %s in the preflight of an allowed origin",
    async (method) => {
      const response = await preflight(app, method)
      assert.deepStrictEqual([response.status, response.text], [204, ""])
      assert.strictEqual(response.headers.get("access-control-allow-origin"), app)
      assert.include(words(response.headers.get("access-control-allow-methods")), method.toLowerCase())
      assert.includeMembers(words(response.headers.get("access-control-allow-headers")), [
        "authorization",
        "content-type",
        "tenant-id",
        "idempotency-key",
        "if-match",
        "if-none-match"
      ])
      assert.match(response.headers.get("access-control-max-age") ?? "", /^\d+$/)
    }
  )

  it.each([
    "https://evil.example.com",
    "https://app.example.com.evil.example.com",
    "https://evil.example.com/https://app.example.com",
    "https://app.example.com:8443",
    "https://app.example.com/",
    "http://app.example.com",
    "https://APP.example.com",
    "https://example.com",
    "null",
    "*",
    ""
  ])("sends no CORS headers to the origin '%s'", async (origin) => {
    assert.isEmpty(corsHeaders(await get(origin)))
    assert.isEmpty(corsHeaders(await preflight(origin, "GET")))
  })

  it("varies responses by Origin also without an allowed origin", async () => {
    for (const origin of [undefined, "https://evil.example.com"]) {
      assert.include(words((await get(origin)).headers.get("vary")), "origin")
    }
  })

  it("sends no CORS headers without CORS_ORIGINS", async () => {
    const withoutCors = await startService()
    for (const [method, origin] of [
      ["GET", app],
      ["OPTIONS", app],
      ["OPTIONS", withoutCors.url]
    ] as const) {
      const response = await sendRaw(withoutCors.url, { method, path: "/api/v1/clients", headers: { origin } })
      assert.isEmpty(corsHeaders(response), `${method} ${origin}`)
    }
    await withoutCors.stop()
  })
})
