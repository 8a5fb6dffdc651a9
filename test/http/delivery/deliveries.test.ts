import { assert, beforeEach, describe, it } from "vitest"
import { assertValidationError } from "../../support/assertions/failures.ts"
import { insertDelivery, insertIntegration } from "../../support/fixtures/deliveryRows.ts"
import { readPages } from "../../support/fixtures/pages.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import type { CallOptions } from "../../support/servers/service.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

describe("Deliveries of an integration", () => {
  const fixture = useFixture(() => startServiceWithPool())
  let tenant: string
  let integration: string
  beforeEach(async () => {
    tenant = await fixture().service.newTenant()
    integration = await insertIntegration(fixture().pool, tenant)
  })

  const insert = (...[delivery]: [Parameters<typeof insertDelivery>[3]?]) =>
    insertDelivery(fixture().pool, tenant, integration, delivery)
  const asOwner = () => ({ as: "owner", tenant })
  const call = (method: string, path: string, options: CallOptions = {}) =>
    fixture().service.api(method, `/integrations/${integration}${path}`, { ...asOwner(), ...options })
  const listIds = async (query: string) => {
    const { body, status, text } = await call("GET", `/deliveries?${query}`)
    assert.strictEqual(status, 200, text)
    return body.data.map(({ id }: { id: string }) => id)
  }

  it("are listed with their result, and a single one shows its attempts", async () => {
    const id = await insert({ status: "EXHAUSTED", attempts: 2 })
    const { body } = await call("GET", "/deliveries")
    const [shown] = body.data
    assert.hasAllKeys(
      shown,
      "id integration event eventType status attempts responseStatus error createdAt updatedAt".split(" ")
    )
    assert.deepInclude(shown, { id, integration, status: "EXHAUSTED", attempts: 2, error: "answered 500" })
    const one = await call("GET", `/deliveries/${id}`)
    const { attemptLog, ...rest } = one.body.data
    assert.deepStrictEqual(rest, shown)
    assert.deepStrictEqual(
      attemptLog.map(({ attemptedAt: _, ...attempt }: { attemptedAt: string }) => attempt),
      [1, 2].map((number) => ({
        number,
        outcome: "FAILED",
        latencyMs: 12,
        responseStatus: 500,
        responseBody: "no",
        error: "answered 500"
      }))
    )
  })

  it("show only their last 100 attempts", async () => {
    const id = await insert({ attempts: 105 })
    const { body } = await call("GET", `/deliveries/${id}`)
    assert.strictEqual(body.data.attempts, 105)
    const numbers = body.data.attemptLog.map(({ number }: { number: number }) => number)
    assert.deepStrictEqual([numbers.length, numbers[0], numbers.at(-1)], [100, 6, 105])
  })

  it("are filtered by status, type and time, and paginated", async () => {
    const [a, b, c, d] = [
      await insert({ at: "2026-01-01T00:00:00.000Z" }),
      await insert({ at: "2026-01-02T00:00:00.000Z", type: "client.deleted", status: "EXHAUSTED" }),
      await insert({ at: "2026-01-03T00:00:00.000Z", type: "clients.created" }),
      await insert({ at: "2026-01-04T00:00:00.000Z", type: "invoice.voided", status: "PENDING" })
    ]
    await insertDelivery(fixture().pool, tenant, await insertIntegration(fixture().pool, tenant))
    assert.deepStrictEqual(await listIds(""), [a, b, c, d])
    assert.deepStrictEqual(await listIds("sort=-createdAt"), [d, c, b, a])
    assert.deepStrictEqual(await listIds("sort=createdAt&status=DELIVERED"), [a, c])
    const newestFirst = await readPages(
      fixture().service,
      `/integrations/${integration}/deliveries?sort=-createdAt&limit=3`,
      asOwner()
    )
    assert.deepStrictEqual(
      newestFirst.map((page) => page.map(({ id }) => id)),
      [[d, c, b], [a]]
    )
    assert.deepStrictEqual(await listIds("status=EXHAUSTED"), [b])
    assert.deepStrictEqual(await listIds("eventType=client.created"), [a])
    assert.deepStrictEqual(await listIds("eventType=client.*"), [a, b])
    assert.deepStrictEqual(await listIds("since=2026-01-02T00:00:00Z"), [b, c, d])
    assert.deepStrictEqual(await listIds("since=2026-01-02T00:00:00.001Z"), [c, d])
    assert.deepStrictEqual(await listIds("until=2026-01-02T00:00:00Z"), [a, b])
    assert.deepStrictEqual(await listIds("until=2026-01-01T23:59:59.999Z"), [a])
    assert.deepStrictEqual(await listIds("since=2026-01-02T00:00:00Z&until=2026-01-03T00:00:00Z&eventType=client.*"), [
      b
    ])
    assert.deepStrictEqual(await listIds("status=WAITING"), [])
    const pages = await readPages(fixture().service, `/integrations/${integration}/deliveries?limit=3`, asOwner())
    assert.deepStrictEqual(
      pages.map((page) => page.map(({ id }) => id)),
      [[a, b, c], [d]]
    )
    assertValidationError(
      await call("GET", "/deliveries?eventType=*&status=LOST"),
      ["status", "enum", "must be one of WAITING, PENDING, DELIVERED, EXHAUSTED, UNCERTAIN"],
      ["eventType", "pattern", "must be an event type such as client.created, or client.* for all events of a resource"]
    )
  })

  it("are redelivered one by one, unless If-Match names another version", async () => {
    const id = await insert({ attempts: 3 })
    const { headers } = await call("GET", `/deliveries/${id}`)
    const etag = headers.get("etag") ?? ""
    const send = (tag: string) => call("POST", `/deliveries/${id}/redeliver`, { headers: { "if-match": tag } })
    const first = await send(etag)
    assert.strictEqual(first.status, 200)
    assert.deepInclude(first.body.data, { id, status: "PENDING", attempts: 3 })
    assert.notProperty(first.body.data, "deliveredAt")
    assert.deepStrictEqual((await call("GET", `/deliveries/${id}`)).body, first.body)
    assert.strictEqual((await send(etag)).status, 412)
    assert.strictEqual((await send(first.headers.get("etag") ?? "")).status, 200)
  })

  it("are redelivered in bulk by time range and status", async () => {
    const times = [1, 2, 3, 4].map((day) => `2026-01-0${day}T00:00:00.000Z`)
    for (const [n, at] of times.entries()) await insert({ at, status: n % 2 === 0 ? "DELIVERED" : "EXHAUSTED" })
    await insert({ at: "2026-01-02T12:00:00.000Z", status: "PENDING" })
    const redeliver = async (body: object) => {
      const response = await call("POST", "/redeliver", { body })
      assert.strictEqual(response.status, 200, response.text)
      return response.body
    }
    assert.deepStrictEqual(await redeliver({ since: times[1], until: times[2], status: "EXHAUSTED" }), {
      data: { redelivered: 1, isComplete: true }
    })
    assert.deepStrictEqual(await redeliver({ since: times[1], until: times[2] }), {
      data: { redelivered: 1, isComplete: true }
    })
    assert.lengthOf(await listIds("status=PENDING"), 3)
    assert.deepStrictEqual(await redeliver({ since: times[0] }), { data: { redelivered: 2, isComplete: true } })
    assert.deepStrictEqual(await redeliver({ since: times[0] }), { data: { redelivered: 0, isComplete: true } })
  })

  it("are redelivered once per Idempotency-Key", async () => {
    await insert()
    const send = () =>
      call("POST", "/redeliver", { body: { since: "2026-01-01T00:00:00Z" }, headers: { "idempotency-key": "k" } })
    assert.deepStrictEqual((await send()).body, { data: { redelivered: 1, isComplete: true } })
    await fixture().pool.query("update deliveries set status = 'DELIVERED'")
    assert.deepStrictEqual((await send()).body, { data: { redelivered: 1, isComplete: true } })
    assert.lengthOf(await listIds("status=DELIVERED"), 1)
  })

  it("are redelivered in the background when there are more than 250", async () => {
    await fixture().pool.query(
      `with inserted as (
         insert into events (tenant_id, id, type, resource_id, sequence, occurred_at, data)
         select $1, 'evt_many' || n, 'client.created', 'clnt_' || n, 1, now(), '{}' from generate_series(1, 600) n
         returning id, resource_id
       )
       insert into deliveries (tenant_id, id, integration_id, event_id, event_type, resource_id, sequence, status,
         created_at, updated_at)
       select $1, 'dlv_zz' || id, $2, id, 'client.created', resource_id, 1, 'DELIVERED', now(), now() from inserted`,
      [tenant, integration]
    )
    const send = (key: string) =>
      call("POST", "/redeliver", { body: { since: "2026-01-01T00:00:00Z" }, headers: { "idempotency-key": key } })
    const first = await send("first")
    assert.deepStrictEqual(first.body, { data: { redelivered: 250, isComplete: false } })
    assert.deepStrictEqual((await send("first")).body, first.body)
    assert.deepStrictEqual((await send("second")).body.data, { redelivered: 250, isComplete: false })
    const { rows } = await fixture().pool.query("select id from redeliveries where tenant_id = $1", [tenant])
    assert.lengthOf(rows, 2)
    await fixture().pool.query(
      `insert into redeliveries
       select tenant_id, id || n, integration_id, since, until, status, after_id, last_id, 0, created_at, due_at
       from redeliveries, generate_series(1, 8) n where id = $1`,
      [rows[0]?.id]
    )
    assertValidationError(await send("third"), [
      "integrationId",
      "state",
      "has 10 redeliveries in progress, which is the maximum; try again when one is complete"
    ])
    const removed = await fixture().service.api("DELETE", `/integrations/${integration}`, asOwner())
    assert.strictEqual(removed.status, 204)
    assert.isEmpty((await fixture().pool.query("select 1 from redeliveries where tenant_id = $1", [tenant])).rows)
  })

  it("are not redelivered when until is before since", async () => {
    const body = { since: "2026-01-02T00:00:00Z", until: "2026-01-01T23:59:59Z" }
    assertValidationError(await call("POST", "/redeliver", { body }), ["until", "min", "must not be before since"])
    assertValidationError(await call("POST", "/redeliver", { body: {} }), ["since", "required", "is required"])
    const same = { since: body.since, until: body.since }
    assert.strictEqual((await call("POST", "/redeliver", { body: same })).status, 200)
  })

  it("are not found under another integration", async () => {
    const id = await insert()
    const other = await insertIntegration(fixture().pool, tenant)
    const callIntegration = (method: string, integration: string, rest: string, body?: object) =>
      fixture().service.api(method, `/integrations/${integration}${rest}`, {
        ...asOwner(),
        ...(body === undefined ? {} : { body })
      })
    assert.strictEqual((await callIntegration("GET", other, `/deliveries/${id}`)).status, 404)
    assert.strictEqual((await callIntegration("POST", other, `/deliveries/${id}/redeliver`)).status, 404)
    assert.deepStrictEqual((await callIntegration("GET", other, "/deliveries")).body, { data: [] })
    assert.strictEqual((await callIntegration("GET", "int_unknown", "/deliveries")).status, 404)
    const body = { since: "2026-01-01T00:00:00Z" }
    assert.strictEqual((await callIntegration("POST", "int_unknown", "/redeliver", body)).status, 404)
  })
})
