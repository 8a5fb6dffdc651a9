import { afterAll, assert, beforeAll, describe, inject, it, onTestFinished, vi } from "vitest"
import { assertUnavailable } from "../../support/assertions/failures.ts"
import { freshDatabase, openPool } from "../../support/servers/database.ts"
import { findClosedPort, type Proxy, startProxy } from "../../support/servers/proxy.ts"
import { type Service, type ServiceResponse, startService } from "../../support/servers/service.ts"

const patience = { timeout: 20_000 }

const readiness = ({ body, status }: ServiceResponse) => [status, body.ready, body.database]

describe("without its database, the service", () => {
  let database: Awaited<ReturnType<typeof freshDatabase>>
  let proxy: Proxy
  let service: Service
  let tenant: string
  beforeAll(async () => {
    database = await freshDatabase()
    proxy = await startProxy(database.url)
    await proxy.cut()
    const starting = startService({ DATABASE_URL: proxy.url })
    // It waits for a database that is not there yet.
    await proxy.restore()
    service = await starting
    tenant = await service.newTenant()
  })
  afterAll(async () => {
    await service.stop()
    await proxy.stop()
    await database.drop()
  })

  const list = () => service.api("GET", "/clients", { as: "owner", tenant })
  const create = (headers: Record<string, string> = {}) =>
    service.api("POST", "/clients", { as: "owner", tenant, body: { name: "Northwind" }, headers })
  const many = (count: number) => Promise.all(Array.from({ length: count }, list))
  const ready = async () => readiness(await service.call("GET", "/readyz"))

  it("says so, lives on, and works again as soon as the database does", async () => {
    await many(5)
    assert.deepStrictEqual(await ready(), [200, true, "ready"])
    await proxy.cut()
    for (const answer of await Promise.all([list(), create(), create({ "idempotency-key": "once" })])) {
      assertUnavailable(answer)
    }
    assertUnavailable(await service.api("POST", "/tenants", { as: "owner", body: { name: "Tenant" } }))
    assert.strictEqual((await service.call("GET", "/healthz")).text, `{"alive":true}`)
    // What a probe was answered is good for a second.
    await vi.waitFor(async () => assert.deepStrictEqual(await ready(), [503, false, "away"]), patience)
    assert.strictEqual((await service.api("GET", "/clients")).status, 401)
    assert.strictEqual((await service.api("GET", "/nowhere")).status, 404)

    await proxy.restore()
    await vi.waitFor(async () => assert.deepStrictEqual(await ready(), [200, true, "ready"]), patience)
    for (const { status } of await many(30)) assert.strictEqual(status, 200)
    const created = await create({ "idempotency-key": "once" })
    assert.strictEqual(created.status, 201)
    assert.isNull(created.headers.get("idempotent-replayed"), "the work failed before and so was never done")
  })

  it("does not wait for one that keeps its connections and never answers", { timeout: 60_000 }, async () => {
    await many(5)
    onTestFinished(() => proxy.flow())
    proxy.stall()
    const asked = [...Array.from({ length: 15 }, list), create(), create({ "idempotency-key": "stalled" })]
    const probed = vi.waitFor(async () => assert.deepStrictEqual(await ready(), [503, false, "away"]), patience)
    assert.strictEqual((await service.call("GET", "/healthz")).status, 200)
    await probed
    for (const answer of await Promise.all(asked)) assertUnavailable(answer)

    proxy.flow()
    await vi.waitFor(async () => assert.deepStrictEqual(await ready(), [200, true, "ready"]), patience)
    for (const { status } of await many(30)) assert.strictEqual(status, 200)
    assert.strictEqual((await create({ "idempotency-key": "stalled" })).status, 201)
  })

  it("says that it is read-only, and writes again as soon as its address leads to a primary", async () => {
    const pool = openPool(database.url)
    const others = "datname = current_database() and pid <> pg_backend_pid()"
    try {
      await pool.query(`alter database ${database.name} set default_transaction_read_only = on`)
      await pool.query(`select pg_terminate_backend(pid, 5000) from pg_stat_activity where ${others}`)
      await vi.waitFor(async () => assert.deepStrictEqual(await ready(), [503, false, "read-only"]), patience)
      assert.strictEqual((await list()).status, 200)
      for (const answer of await Promise.all([create(), create(), create({ "idempotency-key": "read-only" })])) {
        assertUnavailable(answer)
      }
    } finally {
      const writer = await pool.connect()
      await writer.query("set default_transaction_read_only = off")
      await writer.query(`alter database ${database.name} reset default_transaction_read_only`)
      writer.release()
      await pool.end()
    }
    await vi.waitFor(async () => assert.deepStrictEqual(await ready(), [200, true, "ready"]), patience)
    await vi.waitFor(async () => assert.strictEqual((await create()).status, 201), patience)
    await vi.waitFor(async () => {
      for (const { status } of await Promise.all(Array.from({ length: 20 }, () => create())))
        assert.strictEqual(status, 201)
    }, patience)
  })

  it("is not held up for everyone by a row that one tenant's writers wait for", { timeout: 60_000 }, async () => {
    const created = await create()
    const path = `/clients/${created.body.data.id}`
    const neighbour = await service.newTenant("neighbour")
    const pool = openPool(database.url)
    const holder = await pool.connect()
    await holder.query("begin")
    await holder.query("select 1 from clients where id = $1 for update", [created.body.data.id])
    const writes = Array.from({ length: 40 }, (_, index) =>
      service.api("PATCH", path, { as: "owner", tenant, body: { name: `Name ${index}` } })
    )
    const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    await vi.waitFor(async () => assert.isNotEmpty((await pool.query(waiting)).rows), patience)
    try {
      const others = await Promise.all([
        service.api("GET", "/clients", { as: "neighbour", tenant: neighbour }),
        service.api("POST", "/clients", { as: "neighbour", tenant: neighbour, body: { name: "Next door" } }),
        service.call("GET", "/readyz")
      ])
      assertUnavailable(await Promise.race(writes))
      assert.deepStrictEqual(
        others.map(({ status }) => status),
        [200, 201, 200]
      )
    } finally {
      await holder.query("rollback")
      holder.release()
      await pool.end()
    }
    for (const { status } of await Promise.all(writes)) assert.include([200, 503], status)
    assert.strictEqual((await service.api("PATCH", path, { as: "owner", tenant, body: { name: "Free" } })).status, 200)
  })
})

describe("without its broker, the service", () => {
  const broker = async (service: Service) => {
    const { body, status } = await service.call("GET", "/readyz")
    assert.deepStrictEqual([status, body.ready, body.database], [200, true, "ready"])
    return body.broker
  }

  it("starts, serves and is ready", async () => {
    const service = await startService({ NATS_URL: `nats://127.0.0.1:${await findClosedPort()}` })
    assert.strictEqual(await broker(service), "away")
    const tenant = await service.newTenant()
    const created = await service.api("POST", "/clients", { as: "owner", tenant, body: { name: "Northwind" } })
    assert.strictEqual(created.status, 201)
    assert.strictEqual((await service.api("GET", "/clients", { as: "owner", tenant })).body.data.length, 1)
    await service.stop()
  })

  it("sees it go and come back, and is ready all the while", async () => {
    const proxy = await startProxy(inject("natsUrl"))
    const service = await startService({ NATS_URL: proxy.url })
    await vi.waitFor(async () => assert.strictEqual(await broker(service), "connected"), patience)
    await proxy.cut()
    await vi.waitFor(async () => assert.strictEqual(await broker(service), "away"), patience)
    assert.match(await service.newTenant(), /^tnt_/)
    await proxy.restore()
    await vi.waitFor(async () => assert.strictEqual(await broker(service), "connected"), patience)
    await service.stop()
    await proxy.stop()
  })
})
