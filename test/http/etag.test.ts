import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Service, startService } from "../support/servers/service.ts"

describe("Conditional requests", () => {
  let service: Service
  let tenant: string
  beforeAll(async () => {
    service = await startService()
    tenant = await service.newTenant()
  })
  afterAll(() => service.stop())

  const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    service.api(method, path, { as: "owner", tenant, headers, ...(body === undefined ? {} : { body }) })
  const newClient = async () => {
    const { body, headers } = await call("POST", "/clients", { name: "Versioned" })
    return { path: `/clients/${body.data.id}`, etag: headers.get("etag") ?? "" }
  }

  it("get the same ETag from POST and GET and another after a PATCH", async () => {
    const { etag, path } = await newClient()
    assert.match(etag, /^"[\w-]{27}"$/)
    assert.strictEqual((await call("GET", path)).headers.get("etag"), etag)
    const changed = await call("PATCH", path, { name: "Changed" })
    assert.notStrictEqual(changed.headers.get("etag"), etag)
    assert.strictEqual((await call("GET", path)).headers.get("etag"), changed.headers.get("etag"))
  })

  it("get 304 when If-None-Match has the current ETag", async () => {
    const { etag, path } = await newClient()
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const { headers, status, text } = await call("GET", path, undefined, { "if-none-match": known })
      assert.deepStrictEqual([status, text, headers.get("etag")], [304, "", etag])
    }
    assert.strictEqual((await call("GET", path, undefined, { "if-none-match": `"other"` })).status, 200)
  })

  it("get 412 when If-Match has an old ETag", async () => {
    const { etag, path } = await newClient()
    const first = await call("PATCH", path, { name: "First" }, { "if-match": etag })
    assert.strictEqual(first.status, 200)
    const outdated = await call("PATCH", path, { name: "Outdated" }, { "if-match": etag })
    assert.strictEqual(outdated.status, 412)
    assert.strictEqual(outdated.text, `{"error":"PreconditionFailed","message":"Precondition Failed"}`)
    assert.strictEqual((await call("DELETE", path, undefined, { "if-match": etag })).status, 412)
    assert.strictEqual((await call("GET", path)).body.data.name, "First")
    assert.strictEqual(
      (await call("DELETE", path, undefined, { "if-match": first.headers.get("etag") ?? "" })).status,
      204
    )
  })

  it("let exactly one of many concurrent writes with the same If-Match succeed", async () => {
    const { etag, path } = await newClient()
    const responses = await Promise.all(
      Array.from({ length: 16 }, (_, n) => call("PATCH", path, { name: `Writer ${n}` }, { "if-match": etag }))
    )
    const winners = responses.filter(({ status }) => status === 200)
    assert.strictEqual(winners.length, 1)
    assert.strictEqual(responses.filter(({ status }) => status === 412).length, 15)
    assert.deepStrictEqual((await call("GET", path)).body, winners[0]?.body)
  })

  it("are optional: concurrent writes of different fields all succeed without If-Match", async () => {
    const { path } = await newClient()
    const responses = await Promise.all([
      ...Array.from({ length: 6 }, () => call("PATCH", path, { description: "described" })),
      ...Array.from({ length: 6 }, () => call("PATCH", path, { order: 7 })),
      call("PATCH", path, { name: "Renamed" })
    ])
    assert.deepStrictEqual(new Set(responses.map(({ status }) => status)), new Set([200]))
    assert.deepInclude((await call("GET", path)).body.data, { name: "Renamed", description: "described", order: 7 })
  })
})
