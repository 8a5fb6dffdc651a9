import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { EventType } from "../../domain/events/EventCatalogue.ts"
import {
  type Counter,
  continueWith,
  defaultNumberPattern,
  formatInvoiceNumber,
  type InvoiceSeries,
  newCounter,
  numberingPeriod,
  type PatchInvoiceSeries,
  seriesIdOf
} from "../../domain/invoicing/InvoiceNumber.ts"
import { defaultTimeZone, localDateOf } from "../../domain/TimeZone.ts"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import { inTransaction } from "../postgres/connection/Transactions.ts"
import { insertEvents } from "../postgres/repository/EventLog.ts"
import { withSpans } from "../telemetry/UseCaseSpans.ts"

type Period = (typeof InvoiceSeries.Type)["periods"][number]

/** `first` and `last` are null when every invoice of the period is missing. */
type PeriodRow = Omit<Period, "first" | "last"> & { readonly first: string | null; readonly last: string | null }

const toPeriod = ({ first, last, period, ...counts }: PeriodRow): Period => ({
  period,
  ...(first === null ? {} : { first }),
  ...(last === null ? {} : { last }),
  ...counts
})

/** The periods with this one, which has no numbers yet. */
const withPeriod = (periods: ReadonlyArray<Period>, period: string): ReadonlyArray<Period> =>
  periods.some((known) => known.period === period)
    ? periods
    : [...periods, { period, count: 0, voids: 0, gaps: [] }].sort((a, b) => (a.period < b.period ? -1 : 1))

/** Allocates gapless numbers: under a lock on the tenant's series, in the transaction that issues the invoice. */
export class InvoiceNumbers extends Effect.Service<InvoiceNumbers>()("layers/InvoiceNumbers", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const record = insertEvents(sql)

    /** Locks the series and reads the clock. The date of issue never decreases while the numbers increase. */
    const lockSeries = (tenant: string) => sql<{ pattern: string; issuedAt: string }>`
      insert into invoice_series as series (tenant_id, pattern, last_issued)
      values (${tenant}, ${defaultNumberPattern}, date_trunc('milliseconds', clock_timestamp()))
      on conflict (tenant_id) do update
        set last_issued = greatest(series.last_issued, date_trunc('milliseconds', clock_timestamp()))
      returning pattern, last_issued as "issuedAt"`

    const incrementCounter = (tenant: string, period: string) => sql<{ place: number }>`
      insert into invoice_counters as counter (tenant_id, period, last) values (${tenant}, ${period}, 1)
      on conflict (tenant_id, period) do update set last = counter.last + 1
      returning last as place`

    const loadPattern = (tenant: string) =>
      Effect.map(
        sql<{ pattern: string }>`select pattern from invoice_series where tenant_id = ${tenant}`,
        ([series]) => series?.pattern ?? defaultNumberPattern
      )

    /**
     * A gap is where a place does not follow its predecessor. The counter adds the next place, which reveals a gap at
     * the end.
     */
    const loadPeriods = (tenant: string) => sql<PeriodRow>`
      with placed as (
        select period, place, invoice_number, status from invoices where tenant_id = ${tenant} and place is not null
      ), followed as (
        select period, place, lag(place, 1, coalesce(counter.start, 1) - 1) over (partition by period order by place) as before
        from (select period, place from placed union all
          select period, last + 1 from invoice_counters where tenant_id = ${tenant}) places
        left join (select period, start from invoice_counters where tenant_id = ${tenant}) counter using (period)
      ), ends as (
        select period, min(placed.place) as first, max(placed.place) as last, count(placed.place) as count,
          count(*) filter (where status = 'VOID') as voids
        from (select distinct period from followed) periods left join placed using (period) group by period
      )
      select ends.period, f.invoice_number as first, l.invoice_number as last, ends.count, ends.voids,
        coalesce((select json_agg(json_build_object('from', before + 1, 'to', place - 1) order by place)
          from followed where followed.period = ends.period and place <> before + 1), '[]') as gaps
      from ends
      left join placed f on f.period = ends.period and f.place = ends.first
      left join placed l on l.period = ends.period and l.place = ends.last
      order by ends.period`

    /** The current period of a tenant's series, and the period's counter. */
    const loadCounter = Effect.fnUntraced(function* (tenant: string, pattern: string) {
      const [zone] = yield* sql<{ timeZone: string }>`select time_zone as "timeZone" from tenants where id = ${tenant}`
      const today = localDateOf(new Date().toISOString(), zone?.timeZone ?? defaultTimeZone)
      const period = numberingPeriod(pattern, today)
      const [counter = newCounter] = yield* sql<Counter>`
        select start, last from invoice_counters where tenant_id = ${tenant} and period = ${period}`
      return { period, counter }
    })

    const saveCounter = (tenant: string, period: string, { last, start }: Counter) => sql`
      insert into invoice_counters (tenant_id, period, start, last) values (${tenant}, ${period}, ${start}, ${last})
      on conflict (tenant_id, period) do update set start = excluded.start, last = excluded.last`

    /** Locks the series, as every allocation of a number does, and writes its pattern. */
    const savePattern = (tenant: string, pattern: string | undefined) => sql<{ pattern: string; sequence: number }>`
      insert into invoice_series as series (tenant_id, pattern, sequence)
      values (${tenant}, ${pattern ?? defaultNumberPattern}, 1)
      on conflict (tenant_id) do update
        set pattern = coalesce(${pattern ?? null}, series.pattern), sequence = series.sequence + 1
      returning pattern, sequence`

    return {
      /** Allocates the next number. The caller's transaction must save an invoice with this number or roll back. */
      allocate: Effect.fnUntraced(function* (timeZone: string) {
        const tenant = yield* CurrentTenant
        const [series] = yield* lockSeries(tenant)
        if (series === undefined) return yield* Effect.dieMessage("The upsert of the invoice series returned no row")
        const { issuedAt, pattern } = series
        const issueDate = localDateOf(issuedAt, timeZone)
        const period = numberingPeriod(pattern, issueDate)
        const [counter] = yield* incrementCounter(tenant, period)
        const place = counter?.place ?? 1
        return { issuedAt, period, place, invoiceNumber: formatInvoiceNumber(pattern, issueDate, place) }
      }, Effect.orDie),

      getSeries: Effect.gen(function* () {
        const tenant = yield* CurrentTenant
        const pattern = yield* loadPattern(tenant)
        const { counter } = yield* loadCounter(tenant, pattern)
        return { pattern, next: counter.last + 1, periods: (yield* loadPeriods(tenant)).map(toPeriod) }
      }).pipe(Effect.orDie),

      /**
       * Sets the pattern from the next number on, and where the counter of the current period goes on. Reads the periods
       * before it locks the series, because that is slow for many invoices.
       */
      update: (change: typeof PatchInvoiceSeries.Type) =>
        Effect.gen(function* () {
          const tenant = yield* CurrentTenant
          const periods = (yield* loadPeriods(tenant)).map(toPeriod)
          const [saved] = yield* savePattern(tenant, change.pattern)
          if (saved === undefined) return yield* Effect.dieMessage("The upsert of the invoice series returned no row")
          const { pattern } = saved
          const { counter, period } = yield* loadCounter(tenant, pattern)
          const next = change.next === undefined ? counter : yield* continueWith(counter, change.next, period)
          if (next !== counter) yield* saveCounter(tenant, period, next)
          const series = {
            pattern,
            next: next.last + 1,
            periods: next === counter ? periods : withPeriod(periods, period)
          }
          yield* record([
            {
              tenant,
              type: "invoice_series.updated" satisfies EventType,
              resource: seriesIdOf(tenant),
              client: undefined,
              sequence: saved.sequence,
              at: new Date().toISOString(),
              data: series
            }
          ])
          return series
        }).pipe(inTransaction(sql))
    }
  }).pipe(withSpans("InvoiceNumbers"))
}) {}
