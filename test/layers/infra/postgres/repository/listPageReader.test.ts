import { SqlClient } from "@effect/sql/SqlClient"
import { Effect, ManagedRuntime } from "effect"
import { assert, describe, it, vi } from "vitest"
import type { PagePosition } from "../../../../../src/domain/Paging.ts"
import { CurrentTenant } from "../../../../../src/domain/tenancy/RequestContext.ts"
import { TenantId } from "../../../../../src/domain/tenancy/Tenant.ts"
import { Clients } from "../../../../../src/layers/contracting/Clients.ts"
import { maxPageRows } from "../../../../../src/layers/infra/postgres/repository/ListPageReader.ts"
import { outlivePlans } from "../../../../support/assertions/queryPlans.ts"
import { countReads } from "../../../../support/assertions/readCounts.ts"
import { insertClients } from "../../../../support/fixtures/clientRows.ts"
import { useFixture } from "../../../../support/fixtures/useFixture.ts"
import { testLayers } from "../../../../support/servers/layers.ts"
import { startServiceWithTenant } from "../../../../support/servers/serviceWithPool.ts"

describe("readListPage", () => {
  const at = useFixture(() => startServiceWithTenant({}))

  /** Reads a list to its end; returns the number of clients per page. */
  const readAll = (tenant: string) =>
    Effect.gen(function* () {
      const { readListPage } = yield* Clients
      const pages: Array<number> = []
      for (let next: PagePosition | undefined | "first" = "first"; next !== undefined; ) {
        const page: { readonly text: string; readonly next: PagePosition | undefined } = yield* readListPage({})(
          next === "first" ? undefined : next
        )
        pages.push(JSON.parse(`[${page.text}]`).length)
        next = page.next
      }
      return pages
    }).pipe(Effect.provide(Clients.Default), Effect.provideService(CurrentTenant, TenantId.make(tenant)))

  it("reads only the rows of each page from the index, also after the plan of a small table has expired", async () => {
    const { pool, service, tenant } = at()
    const runtime = ManagedRuntime.make(testLayers(service.database.url, { DATABASE_POOL: "1" }))
    await insertClients(pool, tenant, 3)
    await pool.query("analyze clients")
    // PostgreSQL keeps a generic plan after five executions.
    for (let n = 0; n < 8; n++) assert.deepStrictEqual(await runtime.runPromise(readAll(tenant)), [3])
    const many = await service.newTenant()
    await insertClients(pool, many, 3 * maxPageRows)
    const restore = outlivePlans()
    const reader = { runIn: runtime.runPromise, sql: pool }
    const before = await countReads(reader)
    assert.deepStrictEqual(await runtime.runPromise(readAll(many)), [maxPageRows, maxPageRows, maxPageRows, 0])
    // The rows of each page, and what the service reads at the same time.
    assert.isAtMost((await countReads(reader)) - before, 4 * maxPageRows)
    restore()
    await runtime.dispose()
  })
})

/** A service beside many tenants with clients of random names. */
const startBesideOthers = async () => {
  const started = await startServiceWithTenant({})
  const client = await started.pool.connect()
  await client.query(
    `with others as (
       insert into tenants (id, name, created_at, updated_at, sequence)
       select 'tnt_' || n, 'Other', now(), now(), 1 from generate_series(1, 100) n returning id
     )
     insert into clients (tenant_id, id, name, created_at, updated_at, sequence)
     select others.id, 'clnt_' || n, md5(others.id || n), now(), now(), 1 from others, generate_series(1, 200) n`
  )
  await client.query("vacuum analyze clients")
  // What is read here counts now rather than during a search.
  await client.query("select pg_stat_force_next_flush()")
  client.release()
  return started
}

describe("A search in a list", () => {
  const at = useFixture(startBesideOthers)

  const countPages = `
    select sum(idx_blks_hit + idx_blks_read)::int as count from pg_statio_user_indexes where relname = 'clients'`

  // The database of the tests has the locale C, in which none of these has a trigram.
  it.each(["zz", "a-b", "север", "%%"])("for %s reads nothing of other tenants", async (q) => {
    const { pool, service, tenant } = at()
    const runtime = ManagedRuntime.make(testLayers(service.database.url, { DATABASE_POOL: "1" }))
    const search = Effect.gen(function* () {
      const page = yield* (yield* Clients).readListPage({ q })()
      yield* (yield* SqlClient)`select pg_stat_force_next_flush()`
      return page.text
    }).pipe(Effect.provide(Clients.Default), Effect.provideService(CurrentTenant, TenantId.make(tenant)))
    // PostgreSQL keeps a generic plan after five executions.
    for (let n = 0; n < 8; n++) assert.strictEqual(await runtime.runPromise(search), "")
    const pagesRead = async () => (await pool.query<{ count: number }>(countPages)).rows[0]?.count ?? 0
    const before = await pagesRead()
    await runtime.runPromise(search)
    await vi.waitUntil(async () => (await pagesRead()) > before)
    assert.isAtMost((await pagesRead()) - before, 10)
    await runtime.dispose()
  })
})
