import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { initialLimit, type Pool, pools } from "../../../../src/domain/delivery/SendLimits.ts"
import { makeId } from "../../../../src/layers/Ids.ts"
import type { ClaimLimits } from "../../../../src/layers/sql/delivery/Claims.ts"
import { type OpenLedger, openLedger } from "../../../support/ledger.ts"
import { plantDue, plantTenant, resume } from "../../../support/sending.ts"

const limits: ClaimLimits = { pool: "NEW", max: 100, maxPerTenant: 100, tenants: {}, receivers: {} }

describe("claims", () => {
  let ledger: OpenLedger
  beforeAll(async () => {
    ledger = await openLedger()
  })
  afterAll(() => ledger.close())

  const claim = (after: string, more: Partial<ClaimLimits> = {}) =>
    ledger.run(ledger.claims.claim(makeId("lease"), after, { ...limits, ...more }))
  const plant = async (tenant: string, count: number, latencyClass?: "PROVEN" | "SLOW") => {
    const id = await plantDue(ledger.sql, tenant, "http://127.0.0.1", count)
    await resume(ledger.sql, id)
    await ledger.sql.query("update integrations set latency_class = $2 where id = $1", [id, latencyClass ?? null])
    return id
  }
  const clear = () => ledger.sql.query("delete from deliveries")
  const countBy = <A>(rows: ReadonlyArray<A>, key: (row: A) => string) => {
    const counts: Record<string, number> = {}
    for (const row of rows) counts[key(row)] = (counts[key(row)] ?? 0) + 1
    return counts
  }

  it("give each tenant no more than its allowance, and go on behind the tenant where the last one ended", async () => {
    const tenants = [await plantTenant(ledger.sql), await plantTenant(ledger.sql), await plantTenant(ledger.sql)].sort()
    const [first = "", second = "", third = ""] = tenants
    for (const tenant of tenants) for (let n = 0; n < 4; n++) await plant(tenant, 5)
    const byTenant = (rows: Awaited<ReturnType<typeof claim>>) => countBy(rows, ({ tenant }) => tenant)
    const allowances = { maxPerTenant: 3, tenants: { [second]: 0, [third]: 1 } }
    assert.deepStrictEqual(byTenant(await claim("", allowances)), { [first]: 3, [third]: 1 })
    assert.deepStrictEqual(byTenant(await claim("", { maxPerTenant: 2, max: 3 })), { [first]: 2, [second]: 1 })
    assert.deepStrictEqual(byTenant(await claim(second, { maxPerTenant: 2 })), { [third]: 2 })
    await clear()
  })

  it("are made for one pool each, which the database or the limit that is given tells", async () => {
    const tenant = await plantTenant(ledger.sql)
    const ids: Record<Pool, string> = {
      PROVEN: await plant(tenant, 8, "PROVEN"),
      NEW: await plant(tenant, 8),
      SLOW: await plant(tenant, 8, "SLOW")
    }
    const slowed = await plant(tenant, 8, "PROVEN")
    const grown = await plant(tenant, 8, "PROVEN")
    const receivers = { [slowed]: 1, [grown]: 7 }
    const claimed: Partial<Record<Pool, Record<string, number>>> = {}
    for (const pool of pools)
      claimed[pool] = countBy(await claim("", { pool, receivers }), ({ integration }) => integration)
    assert.deepStrictEqual(claimed, {
      PROVEN: { [ids.PROVEN]: initialLimit.PROVEN, [grown]: 7 },
      NEW: { [ids.NEW]: initialLimit.NEW },
      SLOW: { [ids.SLOW]: initialLimit.SLOW, [slowed]: 1 }
    })
    await clear()
  })

  it("let a busy integration keep no other of its tenant waiting", async () => {
    const tenant = await plantTenant(ledger.sql)
    const ids = [
      await plant(tenant, 40, "PROVEN"),
      await plant(tenant, 40, "PROVEN"),
      await plant(tenant, 40, "PROVEN")
    ]
    const receivers = Object.fromEntries(ids.map((id) => [id, 40]))
    const served = new Set<string>()
    for (let n = 0; n < 35 && served.size < ids.length; n++)
      for (const { integration } of await claim("", { pool: "PROVEN", receivers, maxPerTenant: 1 }))
        served.add(integration)
    assert.strictEqual(served.size, ids.length)
    await clear()
  })

  it("lock only integrations that have something due", async () => {
    const tenant = await plantTenant(ledger.sql)
    const [due, later] = [await plant(tenant, 1), await plant(tenant, 1)]
    await ledger.sql.query("update deliveries set next_attempt_at = now() + interval '1 h' where integration_id = $1", [
      later
    ])
    const other = await ledger.sql.connect()
    await other.query("begin")
    await other.query("select pg_advisory_xact_lock(hashtextextended($1, 1))", [due])
    assert.deepStrictEqual(await claim(""), [], "another worker counts what is in flight")
    await other.query("rollback")
    other.release()
    assert.deepStrictEqual(
      (await claim("")).map(({ integration }) => integration),
      [due]
    )
  })
})
