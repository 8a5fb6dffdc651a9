import { Effect, ManagedRuntime } from "effect"
import { assert, describe, it } from "vitest"
import type { PagePosition } from "../../../../src/domain/Paging.ts"
import { CurrentTenant } from "../../../../src/domain/tenancy/RequestContext.ts"
import { TenantId } from "../../../../src/domain/tenancy/Tenant.ts"
import { Clients } from "../../../../src/layers/contracting/Clients.ts"
import { maxPageRows } from "../../../../src/layers/postgres/repository/ListPageReader.ts"
import { outlivePlans } from "../../../support/assertions/queryPlans.ts"
import { countReads } from "../../../support/assertions/readCounts.ts"
import { insertClients } from "../../../support/fixtures/clientRows.ts"
import { useFixture } from "../../../support/fixtures/useFixture.ts"
import { testLayers } from "../../../support/servers/layers.ts"
import { startServiceWithTenant } from "../../../support/servers/serviceWithPool.ts"

describe("readListPage", () => {
  const at = useFixture(startServiceWithTenant)

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
