import { Effect, ManagedRuntime } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { CurrentTenant } from "../../../src/domain/tenancy/RequestContext.ts"
import { TenantId } from "../../../src/domain/tenancy/Tenant.ts"
import { Invoices } from "../../../src/layers/invoicing/Invoices.ts"
import { countReads } from "../../support/assertions/readCounts.ts"
import { resourceMaker } from "../../support/fixtures/resources.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { testLayers } from "../../support/servers/layers.ts"
import { startServiceWithTenant } from "../../support/servers/serviceWithPool.ts"

const invoiceCount = 20_000
const limit = 20

type Query = Parameters<Invoices["list"]>[1]

describe("A page of a long list of invoices", () => {
  const at = useFixture(() => startServiceWithTenant({}))
  const makeRuntime = () => ManagedRuntime.make(testLayers(at().service.database.url, { DATABASE_POOL: "1" }))
  let runtime: ReturnType<typeof makeRuntime>
  let clients: ReadonlyArray<string>

  beforeAll(async () => {
    const { pool, service, tenant } = at()
    const { make } = resourceMaker(service, tenant)
    const contracts: Array<string> = []
    for (const name of ["Northwind", "Southwind"])
      contracts.push((await make("contracts", { clientId: (await make("clients", { name })).id, status: "ACTIVE" })).id)
    await pool.query(
      `insert into invoices (tenant_id, id, contract_id, status, invoice_number, currency_code, subtotal_minor,
         total_minor, billable_count, issued_at, due_at, created_at, updated_at, sequence, period, place, parties)
       select $1, 'inv_' || lpad(n::text, 26, '0'), ($2::text[])[case when n % 1000 = 0 then 2 else 1 end], 'FINALIZED',
         'N-' || n, 'EUR', 0, 0, 1, '2026-01-01Z'::timestamptz + n * interval '1 minute',
         '2099-01-01Z'::timestamptz - n * interval '1 minute', now(), now(), 1, 'all', n, '{}'
       from generate_series(1, $3::integer) n`,
      [tenant, contracts, invoiceCount]
    )
    await pool.query("vacuum analyze invoices")
    const { rows } = await pool.query("select id from clients where tenant_id = $1 order by name", [tenant])
    clients = rows.map(({ id }) => String(id))
    runtime = makeRuntime()
  })
  afterAll(() => runtime.dispose())

  const list = (query: Query) =>
    runtime.runPromise(
      Effect.flatMap(Invoices, (invoices) => invoices.list({ limit, after: undefined }, query)).pipe(
        Effect.provide(Invoices.Default),
        Effect.provideService(CurrentTenant, TenantId.make(at().tenant))
      )
    )

  const queries: ReadonlyArray<readonly [name: string, query: () => Query, rows: number]> = [
    ["without a filter", () => ({}), limit + 1],
    ...(["createdAt", "-createdAt", "issuedAt", "-issuedAt", "dueAt", "-dueAt"] as const).map(
      (sort) => [`sorted by ${sort}`, () => ({ sort }), limit + 1] as const
    ),
    ["of a large client", () => ({ clientId: clients[0] }), limit + 1],
    ["of a small client", () => ({ clientId: clients[1] }), 20],
    ["with a number", () => ({ number: "N-777" }), 1],
    ["with a part of a number", () => ({ q: "n-1234" }), 11],
    ["issued in a short time, sorted", () => ({ issuedTo: "2026-01-01", sort: "issuedAt" }), limit + 1]
  ]

  it.each(queries)("%s reads few rows, also with the plan for all of them", async (_, query, rows) => {
    // PostgreSQL may keep a generic plan after five executions.
    for (let n = 0; n < 7; n++) assert.lengthOf(await list(query()), rows)
    const reader = { runIn: runtime.runPromise, sql: at().pool }
    const before = await countReads(reader)
    await list(query())
    assert.isAtMost((await countReads(reader)) - before, 120)
  })
})
