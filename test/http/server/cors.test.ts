import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type RawResponse, sendRaw } from "../../support/servers/rawHttp.ts"
import { type Service, startService } from "../../support/servers/service.ts"

const app = "https://app.example.com"
const local = "http://localhost:5173"

const corsHeaders = ({ headers }: RawResponse) =>
  [...headers.keys()].filter((name) => name.startsWith("access-control-"))
const words = (list: string | null) => (list ?? "").split(",").map((word) => word.trim().toLowerCase())

describe("a page of another origin", () => {
  let service: Service
  let identity: Record<string, string>
  beforeAll(async () => {
    service = await startService({ CORS_ORIGINS: `${app}, ${local}` })
    identity = { authorization: `Bearer ${await service.token("owner")}`, "tenant-id": await service.newTenant() }
  })
  afterAll(() => service.stop())

  const ask = (origin: string | undefined, headers: Record<string, string> = identity, path = "/api/v1/clients") =>
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

  it.each([app, local])("at %s may read answers, failures too, and the headers that matter", async (origin) => {
    for (const [status, answer] of [
      [200, await ask(origin)],
      [401, await ask(origin, {})],
      [400, await ask(origin, { ...identity, "tenant-id": "nonsense" })],
      [404, await ask(origin, identity, "/api/v1/nowhere")]
    ] as const) {
      assert.strictEqual(answer.status, status)
      assert.strictEqual(answer.headers.get("access-control-allow-origin"), origin)
      assert.include(words(answer.headers.get("vary")), "origin")
      assert.includeMembers(words(answer.headers.get("access-control-expose-headers")), [
        "etag",
        "link",
        "location",
        "retry-after",
        "x-request-id",
        "idempotent-replayed"
      ])
      assert.isFalse(answer.headers.has("access-control-allow-credentials"), "a bearer token is no cookie")
    }
  })

  it.each(["GET", "POST", "PATCH", "PUT", "DELETE"])("may ask first whether it may %s", async (method) => {
    const answer = await preflight(app, method)
    assert.deepStrictEqual([answer.status, answer.text], [204, ""])
    assert.strictEqual(answer.headers.get("access-control-allow-origin"), app)
    assert.include(words(answer.headers.get("access-control-allow-methods")), method.toLowerCase())
    assert.includeMembers(words(answer.headers.get("access-control-allow-headers")), [
      "authorization",
      "content-type",
      "tenant-id",
      "idempotency-key",
      "if-match",
      "if-none-match"
    ])
    assert.match(answer.headers.get("access-control-max-age") ?? "", /^\d+$/)
  })

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
  ])("at '%s' is told nothing", async (origin) => {
    assert.isEmpty(corsHeaders(await ask(origin)))
    assert.isEmpty(corsHeaders(await preflight(origin, "GET")))
  })

  it("is kept apart from others by caches", async () => {
    for (const origin of [undefined, "https://evil.example.com"]) {
      assert.include(words((await ask(origin)).headers.get("vary")), "origin")
    }
  })

  it("is told nothing where no origin is named", async () => {
    const closed = await startService()
    for (const [method, origin] of [
      ["GET", app],
      ["OPTIONS", app],
      ["OPTIONS", closed.url]
    ] as const) {
      const answer = await sendRaw(closed.url, { method, path: "/api/v1/clients", headers: { origin } })
      assert.isEmpty(corsHeaders(answer), `${method} ${origin}`)
    }
    await closed.stop()
  })
})
