import { Effect, Layer, ManagedRuntime } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { CurrentTenant } from "../../../src/domain/tenancy/RequestContext.ts"
import { TenantId } from "../../../src/domain/tenancy/Tenant.ts"
import { AgingReports } from "../../../src/layers/reports/AgingReports.ts"
import { ReportPeriods, type ResolvedPeriod } from "../../../src/layers/reports/ReportPeriods.ts"
import { RevenueReports } from "../../../src/layers/reports/RevenueReports.ts"
import { Statements } from "../../../src/layers/reports/Statements.ts"
import { countReads } from "../../support/assertions/readCounts.ts"
import { withoutTriggers } from "../../support/fixtures/journalHistory.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { testLayers } from "../../support/servers/layers.ts"
import { startServiceWithTenant } from "../../support/servers/serviceWithPool.ts"

const clientCount = 500
const invoiceCount = 20_000
const entryCount = 2 * invoiceCount
const invoicesPerClient = invoiceCount / clientCount
/** One invoice every ten minutes from the first day on. */
const invoicesPerDay = 144
const firstDay = "2025-01-01"
const limit = 20

const clientId = (n: number) => `clnt_${String(n).padStart(26, "0")}`

describe("A report of a long journal", { timeout: 120_000 }, () => {
  const at = useFixture(() => startServiceWithTenant({}))
  const makeRuntime = () => ManagedRuntime.make(testLayers(at().service.database.url, { DATABASE_POOL: "1" }))
  let runtime: ReturnType<typeof makeRuntime>

  /** Every second invoice is written off on the day on which it is issued, which is the shortest way to settle one. */
  const insertJournal = (tenant: string) =>
    withoutTriggers(at().pool, async (connection) => {
      await connection.query(
        `insert into clients (tenant_id, id, name, created_at, updated_at, sequence)
         select $1, 'clnt_' || lpad(n::text, 26, '0'), 'Client', now(), now(), 1 from generate_series(0, $2::int - 1) n`,
        [tenant, clientCount]
      )
      await connection.query(
        `insert into invoices (tenant_id, id, contract_id, client_id, status, invoice_number, currency_code, subtotal_minor,
           tax_minor, total_minor, taxes, billable_count, issued_at, due_at, created_at, updated_at, sequence, period, place,
           parties)
         select $1, 'inv_' || n, 'ctr_1', 'clnt_' || lpad((n % $3)::text, 26, '0'), 'FINALIZED', 'N-' || n, 'EUR', 100, 19,
           119, '[{"name":"VAT","category":"S","percent":19,"baseMinor":100,"taxMinor":19}]', 1, at,
           at + interval '30 days', now(), now(), 1, 'all', n, '{}'
         from (select n, $4::timestamptz + n * interval '10 minutes' as at from generate_series(0, $2::int - 1) n) issued`,
        [tenant, invoiceCount, clientCount, `${firstDay}T00:00:00Z`]
      )
      await connection.query(
        `insert into journal_entries (tenant_id, kind, booked_at, client_id, currency_code, invoice_id, invoice_minor,
           credit_minor, invoice_place)
         select tenant_id, kind, issued_at, client_id, 'EUR', id, minor, 0, step
         from invoices cross join (values ('INVOICE', 119, 1), ('WRITE_OFF', -100, 2)) entries (kind, minor, step)
         where tenant_id = $1`,
        [tenant]
      )
    })

  beforeAll(async () => {
    await insertJournal(at().tenant)
    await insertJournal(await at().service.newTenant())
    await at().pool.query("vacuum analyze")
    runtime = makeRuntime()
  }, 120_000)
  afterAll(() => runtime.dispose())

  const services = Effect.all({
    aging: AgingReports,
    periods: ReportPeriods,
    revenue: RevenueReports,
    statements: Statements
  })
  type Services = Effect.Effect.Success<typeof services>

  const run = <A, E>(report: (services: Services) => Effect.Effect<A, E, CurrentTenant>) =>
    runtime.runPromise(
      Effect.flatMap(services, report).pipe(
        Effect.provide(
          Layer.mergeAll(AgingReports.Default, ReportPeriods.Default, RevenueReports.Default, Statements.Default)
        ),
        Effect.provideService(CurrentTenant, TenantId.make(at().tenant))
      )
    )

  type Report = (
    services: Services,
    day: ResolvedPeriod
  ) => Effect.Effect<ReadonlyArray<object>, unknown, CurrentTenant>

  /** What each report may read on a day in the middle: the entries that it needs, their invoices, and look-ups. */
  const reports: ReadonlyArray<readonly [name: string, report: Report, rows: number, maxReads: number]> = [
    [
      "by age reads only the clients of its page",
      ({ aging }, day) => aging.list(day, { limit, after: undefined }),
      limit + 1,
      (limit + 2) * invoicesPerClient * 5
    ],
    [
      "by age reads the pages in the middle as fast as the first",
      ({ aging }, day) => aging.list(day, { limit, after: { id: clientId(300), key: "EUR" } }),
      limit + 1,
      (limit + 2) * invoicesPerClient * 5
    ],
    [
      "by age, summed up, reads each entry of the tenant once",
      ({ aging }, day) => aging.getTotals(day),
      1,
      1.2 * (entryCount + 2 * invoiceCount)
    ],
    ["on revenue reads only its period", ({ revenue }, day) => revenue.getRevenue(day, "month"), 1, invoicesPerDay * 6],
    ["on taxes reads only its period", ({ revenue }, day) => revenue.getTaxes(day), 1, invoicesPerDay * 6],
    [
      "on revenue by client reads only its period",
      ({ revenue }, day) => revenue.listByClient(day, { limit, after: undefined }),
      limit + 1,
      invoicesPerDay * 7
    ],
    [
      "on one client reads only its entries",
      ({ statements }, day) => Effect.map(statements.get(clientId(7), day), ({ currencies }) => currencies),
      1,
      invoicesPerClient * 6
    ]
  ]

  it.each(reports)("%s", async (_, report, rows, maxReads) => {
    const day = await run(({ periods }) => periods.resolve({ from: "2025-03-20", to: "2025-03-20" }))
    // PostgreSQL may keep a generic plan after five executions.
    for (let n = 0; n < 7; n++) assert.lengthOf(await run((services) => report(services, day)), rows)
    const reader = { runIn: runtime.runPromise, sql: at().pool }
    const before = await countReads(reader)
    await run((services) => report(services, day))
    assert.isAtMost((await countReads(reader)) - before, maxReads)
  })
})
