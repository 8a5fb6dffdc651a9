import { afterAll, assert, beforeAll, describe, inject, it, onTestFinished, vi } from "vitest"
import { assertUnavailable } from "../../support/assertions/failures.ts"
import { freshDatabase, openPool } from "../../support/servers/database.ts"
import { findClosedPort, type Proxy, startProxy } from "../../support/servers/proxy.ts"
import { type Service, type ServiceResponse, startService } from "../../support/servers/service.ts"

const waitOptions = { timeout: 60_000 }

const readiness = ({ body, status }: ServiceResponse) => [status, body.ready, body.database]

describe("The service without its database", () => {
  let database: Awaited<ReturnType<typeof freshDatabase>>
  let proxy: Proxy
  let service: Service
  let tenant: string
  beforeAll(async () => {
    database = await freshDatabase()
    proxy = await startProxy(database.url)
    await proxy.disconnect()
    const url = new URL(proxy.url)
    // Shorter than the default, so that the test of a stalled database does not wait for so long.
    url.searchParams.set("query_timeout", "4000")
    const starting = startService({ DATABASE_URL: url.href })
    // The service waits for a database that is unavailable at its start.
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
  const listConcurrently = (count: number) => Promise.all(Array.from({ length: count }, list))
  const ready = async () => readiness(await service.call("GET", "/readyz"))

  it("responds 503 while connections are refused, and serves again after they are accepted", async () => {
    await listConcurrently(5)
    assert.deepStrictEqual(await ready(), [200, true, "ready"])
    await proxy.disconnect()
    for (const response of await Promise.all([list(), create(), create({ "idempotency-key": "once" })])) {
      assertUnavailable(response)
    }
    assertUnavailable(await service.api("POST", "/tenants", { as: "owner", body: { name: "Tenant" } }))
    assert.strictEqual((await service.call("GET", "/healthz")).text, `{"alive":true}`)
    // The service caches its readiness for a second.
    await vi.waitFor(async () => assert.deepStrictEqual(await ready(), [503, false, "away"]), waitOptions)
    assert.strictEqual((await service.api("GET", "/clients")).status, 401)
    assert.strictEqual((await service.api("GET", "/nowhere")).status, 404)

    await proxy.restore()
    await vi.waitFor(async () => assert.deepStrictEqual(await ready(), [200, true, "ready"]), waitOptions)
    for (const { status } of await listConcurrently(30)) assert.strictEqual(status, 200)
    const created = await create({ "idempotency-key": "once" })
    assert.strictEqual(created.status, 201)
    assert.isNull(created.headers.get("idempotent-replayed"), "the first attempt failed, so nothing is replayed")
  })

  it("responds 503 while the database accepts connections and never responds", async () => {
    await listConcurrently(5)
    onTestFinished(() => proxy.resume())
    proxy.stall()
    const requests = [...Array.from({ length: 15 }, list), create(), create({ "idempotency-key": "stalled" })]
    const unready = vi.waitFor(async () => assert.deepStrictEqual(await ready(), [503, false, "away"]), waitOptions)
    assert.strictEqual((await service.call("GET", "/healthz")).status, 200)
    await unready
    for (const response of await Promise.all(requests)) assertUnavailable(response)

    proxy.resume()
    await vi.waitFor(async () => assert.deepStrictEqual(await ready(), [200, true, "ready"]), waitOptions)
    for (const { status } of await listConcurrently(30)) assert.strictEqual(status, 200)
    assert.strictEqual((await create({ "idempotency-key": "stalled" })).status, 201)
  })

  it("responds 503 to writes while the database is read-only, and writes again after that", async () => {
    const pool = openPool(database.url)
    const others = "datname = current_database() and pid <> pg_backend_pid()"
    try {
      await pool.query(`alter database ${database.name} set default_transaction_read_only = on`)
      await pool.query(`select pg_terminate_backend(pid, 5000) from pg_stat_activity where ${others}`)
      await vi.waitFor(async () => assert.deepStrictEqual(await ready(), [503, false, "read-only"]), waitOptions)
      assert.strictEqual((await list()).status, 200)
      for (const response of await Promise.all([create(), create(), create({ "idempotency-key": "read-only" })])) {
        assertUnavailable(response)
      }
    } finally {
      const writer = await pool.connect()
      await writer.query("set default_transaction_read_only = off")
      await writer.query(`alter database ${database.name} reset default_transaction_read_only`)
      writer.release()
      await pool.end()
    }
    await vi.waitFor(async () => assert.deepStrictEqual(await ready(), [200, true, "ready"]), waitOptions)
    await vi.waitFor(async () => assert.strictEqual((await create()).status, 201), waitOptions)
    await vi.waitFor(async () => {
      for (const { status } of await Promise.all(Array.from({ length: 20 }, () => create())))
        assert.strictEqual(status, 201)
    }, waitOptions)
  })

  it("serves other tenants while writers of one tenant wait for a locked row", async () => {
    const created = await create()
    const path = `/clients/${created.body.data.id}`
    const neighbour = await service.newTenant("neighbour")
    const pool = openPool(database.url)
    const locker = await pool.connect()
    await locker.query("begin")
    await locker.query("select 1 from clients where id = $1 for update", [created.body.data.id])
    const writes = Array.from({ length: 40 }, (_, index) =>
      service.api("PATCH", path, { as: "owner", tenant, body: { name: `Name ${index}` } })
    )
    const waitingForLock = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    await vi.waitFor(async () => assert.isNotEmpty((await pool.query(waitingForLock)).rows), waitOptions)
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
      await locker.query("rollback")
      locker.release()
      await pool.end()
    }
    for (const { status } of await Promise.all(writes)) assert.include([200, 503], status)
    assert.strictEqual((await service.api("PATCH", path, { as: "owner", tenant, body: { name: "Free" } })).status, 200)
  })
})

describe("The service without NATS", () => {
  const brokerState = async (service: Service) => {
    const { body, status } = await service.call("GET", "/readyz")
    assert.deepStrictEqual([status, body.ready, body.database], [200, true, "ready"])
    return body.broker
  }

  it("starts, serves requests and is ready", async () => {
    const service = await startService({ NATS_URL: `nats://127.0.0.1:${await findClosedPort()}` })
    assert.strictEqual(await brokerState(service), "away")
    const tenant = await service.newTenant()
    const created = await service.api("POST", "/clients", { as: "owner", tenant, body: { name: "Northwind" } })
    assert.strictEqual(created.status, 201)
    assert.strictEqual((await service.api("GET", "/clients", { as: "owner", tenant })).body.data.length, 1)
    await service.stop()
  })

  it("reports a lost and restored connection and stays ready", async () => {
    const proxy = await startProxy(inject("natsUrl"))
    const service = await startService({ NATS_URL: proxy.url })
    await vi.waitFor(async () => assert.strictEqual(await brokerState(service), "connected"), waitOptions)
    await proxy.disconnect()
    await vi.waitFor(async () => assert.strictEqual(await brokerState(service), "away"), waitOptions)
    assert.match(await service.newTenant(), /^tnt_/)
    await proxy.restore()
    await vi.waitFor(async () => assert.strictEqual(await brokerState(service), "connected"), waitOptions)
    await service.stop()
    await proxy.stop()
  })
})
