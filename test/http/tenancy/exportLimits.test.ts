import { type IncomingMessage, request } from "node:http"
import { buffer } from "node:stream/consumers"
import { assert, beforeAll, describe, it, onTestFinished, vi } from "vitest"
import { unpack } from "../../support/assertions/archive.ts"
import { parseMetrics } from "../../support/assertions/metrics.ts"
import { invoiceClient } from "../../support/fixtures/invoices.ts"
import { countReads } from "../../support/fixtures/readCounter.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithTenant } from "../../support/servers/serviceWithPool.ts"

const clientCount = 6000

/** Clients with texts that hardly get smaller by compression, about 4 KB each. */
const insertLargeClients = `
  insert into clients (tenant_id, id, name, description, created_at, updated_at, sequence)
  select $1, 'clnt_' || lpad(n::text, 26, '0'), 'Client ' || n,
    (select string_agg(md5(n::text || part), '') from generate_series(1, 128) part), now(), now(), 1
  from generate_series(1, $2::integer) n`

describe("GET /tenants/{tenantId}/export", () => {
  const at = useFixture(() => startServiceWithTenant({}))
  let token: string
  beforeAll(async () => {
    token = await at().service.token("owner")
  })

  /** Starts an export whose client does not read the body yet. */
  const openExport = (tenant = at().tenant) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = request(`${at().service.url}/api/v1/tenants/${tenant}/export`, {
        headers: { authorization: `Bearer ${token}` },
        agent: false
      })
      onTestFinished(() => void outgoing.destroy())
      outgoing.on("response", resolve).on("error", reject).end()
    })
  const statusOfExport = async (tenant?: string) => {
    const response = await openExport(tenant)
    await buffer(response)
    return response.statusCode
  }
  const countRejections = async () => {
    const { text } = await at().service.call("GET", "/metrics")
    const ofExports = parseMetrics(text).find(
      ({ labels, name }) => name === "http_requests_refused_total" && labels["reason"] === "exports"
    )
    return ofExports?.value ?? 0
  }
  /** Waits until a number no longer changes. */
  const untilStable = async (read: () => Promise<number>) => {
    const seen: Array<number> = []
    await vi.waitUntil(
      async () => {
        seen.push(await read())
        return seen.length > 5 && new Set(seen.slice(-5)).size === 1
      },
      { timeout: 60_000, interval: 100 }
    )
    return seen.at(-1) ?? 0
  }

  it("reads no more rows than the client takes, and runs once at a time for a tenant", {
    timeout: 90_000
  }, async () => {
    const { pool, tenant } = at()
    await pool.query(insertLargeClients, [tenant, clientCount])
    await pool.query("analyze clients")
    const countRows = await countReads(pool, "clients")
    const unread = await openExport()
    assert.strictEqual(unread.statusCode, 200)
    assert.isBelow(await untilStable(countRows), clientCount * 0.75)

    const before = await countRejections()
    const rejected = await openExport()
    assert.strictEqual(rejected.statusCode, 429)
    assert.isDefined(rejected.headers["retry-after"])
    await buffer(rejected)
    assert.strictEqual(await countRejections(), before + 1)

    const files = await unpack(await buffer(unread))
    assert.strictEqual(files.get("data/clients.jsonl")?.toString().split("\n").length, clientCount + 1)
    assert.isTrue(files.has(`pages/clients-${clientCount / 200}.html`))
    assert.isFalse(files.has(`pages/clients-${clientCount / 200 + 1}.html`))
  })

  it("stops when the client disconnects, and lets the tenant export again", async () => {
    const unread = await openExport()
    unread.destroy()
    await at().pool.query("delete from clients where tenant_id = $1", [at().tenant])
    await vi.waitUntil(async () => (await statusOfExport()) === 200, { timeout: 60_000 })
  })

  it("closes the connection in the middle of an archive that it cannot complete", async () => {
    const { pool, service } = at()
    const tenant = await service.newTenant()
    await invoiceClient(service, tenant).invoiceIn("FINALIZED")
    assert.strictEqual(await statusOfExport(tenant), 200)
    await pool.query("update blob_chunks set bytes = 'damaged' where tenant_id = $1", [tenant])
    const failing = await openExport(tenant)
    assert.strictEqual(failing.statusCode, 200)
    const error = await buffer(failing).then(
      () => assert.fail("the archive looks complete"),
      (cause: NodeJS.ErrnoException) => cause
    )
    assert.strictEqual(error.code, "ECONNRESET")
    assert.strictEqual(await statusOfExport(await service.newTenant()), 200)
  })

  it("does not exist after the tenant is deleted", async () => {
    const { service } = at()
    const tenant = await service.newTenant()
    await service.api("DELETE", `/tenants/${tenant}`, { as: "owner" })
    assert.strictEqual(await statusOfExport(tenant), 404)
  })
})
