import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { openPool } from "../support/servers/database.ts"
import { type Service, startService } from "../support/servers/service.ts"

describe("The Idempotency-Key header", () => {
  let service: Service
  let tenant: string
  let sql: ReturnType<typeof openPool>
  beforeAll(async () => {
    service = await startService()
    tenant = await service.newTenant()
    sql = openPool(service.database.url)
  })
  afterAll(async () => {
    await sql.end()
    await service.stop()
  })

  const post = (key: string, body: unknown, as = "owner", path = "/clients") =>
    service.api("POST", path, { as, tenant, body, headers: { "idempotency-key": key } })
  const countClients = async (name: string) => {
    const { body } = await service.api("GET", "/clients", { as: "owner", tenant })
    return body.data.filter((client: { name: string }) => client.name === name).length
  }

  it("replays the first response byte for byte", async () => {
    const first = await post("replay", { name: "Replayed" })
    const again = await post("replay", { name: "Replayed" })
    assert.strictEqual(first.status, 201)
    assert.isNull(first.headers.get("idempotent-replayed"))
    assert.strictEqual(again.headers.get("idempotent-replayed"), "true")
    for (const header of ["etag", "location", "content-type"]) {
      assert.strictEqual(again.headers.get(header), first.headers.get(header))
    }
    assert.deepStrictEqual([again.status, again.text], [first.status, first.text])
    assert.notStrictEqual(again.headers.get("x-request-id"), first.headers.get("x-request-id"))
    assert.strictEqual(await countClients("Replayed"), 1)
  })

  it("rejects the same key with another body", async () => {
    await post("conflict", { name: "One" })
    const other = await post("conflict", { name: "Two" })
    assert.strictEqual(other.status, 409)
    assert.strictEqual(
      other.text,
      `{"error":"Conflict","message":"This Idempotency-Key was already used for another request; send a new key"}`
    )
    assert.strictEqual(await countClients("Two"), 0)
  })

  it("creates one resource for concurrent requests with the same key", async () => {
    const responses = await Promise.all(Array.from({ length: 20 }, () => post("concurrent", { name: "Concurrent" })))
    assert.deepStrictEqual(new Set(responses.map(({ status }) => status)), new Set([201]))
    assert.strictEqual(new Set(responses.map(({ text }) => text)).size, 1)
    assert.strictEqual(responses.filter(({ headers }) => headers.get("idempotent-replayed") === null).length, 1)
    assert.strictEqual(await countClients("Concurrent"), 1)
  })

  it("does not store an error, so the corrected request can use the key", async () => {
    assert.strictEqual((await post("failed", { name: "" })).status, 400)
    assert.strictEqual((await post("failed", { name: "Corrected" })).status, 201)
  })

  it("is scoped to the caller, the tenant and the operation", async () => {
    await service.api("POST", "/members", { as: "owner", tenant, body: { subject: "helper", role: "ADMIN" } })
    const mine = await post("scope", { name: "Scoped" })
    const theirs = await post("scope", { name: "Scoped" }, "helper")
    assert.notStrictEqual(theirs.body.data.id, mine.body.data.id)
    const member = await post("scope", { subject: "another", role: "VIEWER" }, "owner", "/members")
    assert.strictEqual(member.status, 201)
    const elsewhere = await service.newTenant()
    const other = await service.api("POST", "/clients", {
      as: "owner",
      tenant: elsewhere,
      body: { name: "Scoped" },
      headers: { "idempotency-key": "scope" }
    })
    assert.strictEqual(other.status, 201)
    assert.notStrictEqual(other.body.data.id, mine.body.data.id)
  })

  it("authorizes a request before it replays the response", async () => {
    const { body } = await service.api("POST", "/members", {
      as: "owner",
      tenant,
      body: { subject: "gone", role: "MEMBER" }
    })
    assert.strictEqual((await post("revoked", { name: "Before" }, "gone")).status, 201)
    await service.api("DELETE", `/members/${body.data.id}`, { as: "owner", tenant })
    assert.strictEqual((await post("revoked", { name: "Before" }, "gone")).status, 403)
  })

  it("replays to each caller its own response when two callers use the same key in one tenant", async () => {
    await service.api("POST", "/members", { as: "owner", tenant, body: { subject: "namesake", role: "ADMIN" } })
    const callers = ["owner", "namesake"] as const
    for (const bodies of [
      { owner: { name: "Alike" }, namesake: { name: "Alike" } },
      { owner: { name: "Mine" }, namesake: { name: "Theirs" } }
    ]) {
      const key = `apart-${bodies.owner.name}`
      const send = (caller: (typeof callers)[number]) => post(key, bodies[caller], caller)
      const first = { owner: await send("owner"), namesake: await send("namesake") }
      for (const caller of callers) {
        assert.strictEqual(first[caller].status, 201)
        assert.isNull(first[caller].headers.get("idempotent-replayed"))
      }
      for (const caller of [...callers, ...callers.toReversed()]) {
        const again = await send(caller)
        assert.deepStrictEqual([again.status, again.text], [201, first[caller].text], caller)
        assert.strictEqual(again.headers.get("idempotent-replayed"), "true")
      }
    }
  })

  it("is free again after 24 hours", async () => {
    const first = await post("old", { name: "Old" })
    await sql.query("update idempotency_keys set claimed_at = now() - interval '25 hours' where key = 'old'")
    const second = await post("old", { name: "New" })
    assert.strictEqual(second.status, 201)
    assert.notStrictEqual(second.body.data.id, first.body.data.id)
  })

  it("stores responses encrypted", async () => {
    await post("sealed", { name: "Plainly readable" })
    const { rows } = await sql.query("select answer from idempotency_keys where key = 'sealed'")
    assert.isFalse(rows[0].answer.includes("Plainly readable"))
  })

  it("rejects an empty, too long or malformed key", async () => {
    for (const key of ["", "a b", "x".repeat(256)]) {
      const { body, status } = await post(key, { name: "N" })
      assert.strictEqual(status, 400)
      assert.deepInclude(body.details[0], { field: "Idempotency-Key", constraint: "format" })
    }
  })

  it("works for POST /tenants, which has no tenant yet", async () => {
    const create = () =>
      service.api("POST", "/tenants", { as: "founder", body: { name: "T" }, headers: { "idempotency-key": "t" } })
    const [first, second] = [await create(), await create()]
    assert.strictEqual(first.text, second.text)
    const { body } = await service.api("GET", "/tenants", { as: "founder" })
    assert.strictEqual(body.data.length, 1)
  })
})
