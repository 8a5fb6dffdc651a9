import { Effect, Layer } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { PostgresBlobs } from "../../src/layers/blobs/PostgresBlobs.ts"
import { Assets } from "../../src/layers/sql/branding/Assets.ts"
import { Blobs } from "../../src/layers/sql/branding/Blobs.ts"
import { Erasure } from "../../src/layers/sql/Erasure.ts"
import { IdempotencyKeys } from "../../src/layers/sql/IdempotencyKeys.ts"
import { tidy } from "../../src/workers/Janitor.ts"
import { openPool } from "../support/database.ts"
import { liveOn } from "../support/live.ts"
import { type Service, startService } from "../support/service.ts"

describe("the janitor", () => {
  let service: Service
  let sql: ReturnType<typeof openPool>
  beforeAll(async () => {
    service = await startService()
    sql = openPool(service.database.url)
  })
  afterAll(async () => {
    await sql.end()
    await service.stop()
  })

  const round = (environment: Readonly<Record<string, string>> = {}) =>
    Effect.runPromise(
      tidy.pipe(
        Effect.provide(
          Layer.provide(
            Layer.mergeAll(IdempotencyKeys.Default, Erasure.Default, Assets.Default, Blobs.Default).pipe(
              Layer.provide(PostgresBlobs)
            ),
            liveOn(service.database.url, { DATA_DIR: service.dataDir, ...environment })
          )
        )
      )
    )

  const filledTenant = async () => {
    const tenant = await service.newTenant()
    const options = { as: "owner", tenant, headers: { "idempotency-key": tenant } }
    await service.api("POST", "/clients", { ...options, body: { name: "C" } })
    return tenant
  }
  /** How many rows of any table mention the tenant, whatever the column. */
  const rowsOf = async (tenant: string) => {
    const { rows } = await sql.query("select table_name from information_schema.tables where table_schema = 'public'")
    const counts = rows.map(
      ({ table_name }) => `select count(*)::int as n from ${table_name} t where strpos(t::text, $1) > 0`
    )
    const { rows: found } = await sql.query(counts.join(" union all "), [tenant])
    return found.reduce((sum: number, { n }: { n: number }) => sum + n, 0)
  }

  it("erases a deleted tenant whole, and only when its time has come", async () => {
    const [kept, deleted] = [await filledTenant(), await filledTenant()]
    await service.api("DELETE", `/tenants/${deleted}`, { as: "owner" })
    const before = await rowsOf(deleted)
    assert.isAbove(before, 4)
    await round({ TENANT_RETENTION_DAYS: "1" })
    assert.strictEqual(await rowsOf(deleted), before)
    await sql.query("update tenants set deleted_at = now() - interval '25 hours' where id = $1", [deleted])
    const keptBefore = await rowsOf(kept)
    await Promise.all([round({ TENANT_RETENTION_DAYS: "1" }), round({ TENANT_RETENTION_DAYS: "1" })])
    assert.strictEqual(await rowsOf(deleted), 0)
    assert.strictEqual(await rowsOf(kept), keptBefore)
  })

  it("forgets idempotency keys past their life and no other", async () => {
    const tenant = await filledTenant()
    await sql.query(
      `insert into idempotency_keys (tenant_id, issuer, subject, route, key, fingerprint, claimed_at)
       select $1, 'i', 's', 'r', n::text, '', now() - interval '25 hours' from generate_series(1, 2500) n`,
      [tenant]
    )
    await round()
    const { rows } = await sql.query("select key from idempotency_keys where tenant_id = $1", [tenant])
    assert.deepStrictEqual(
      rows.map(({ key }) => key),
      [tenant]
    )
  })
})
