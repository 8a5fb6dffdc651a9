import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { EventType } from "../../domain/events/EventCatalogue.ts"
import {
  defaultNumberPattern,
  formatInvoiceNumber,
  type InvoiceSeries,
  numberingPeriod,
  seriesIdOf
} from "../../domain/invoicing/InvoiceNumber.ts"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import { insertEvent } from "../postgres/repository/EventLog.ts"
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

/** Allocates gapless numbers: under a lock on the tenant's series, in the transaction that issues the invoice. */
export class InvoiceNumbers extends Effect.Service<InvoiceNumbers>()("layers/InvoiceNumbers", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const record = insertEvent(sql, sql.literal("changed"))

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
        select period, place, lag(place, 1, 0) over (partition by period order by place) as before
        from (select period, place from placed union all
          select period, last + 1 from invoice_counters where tenant_id = ${tenant}) places
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

    return {
      /** Allocates the next number. The caller's transaction must save an invoice with this number or roll back. */
      allocate: Effect.gen(function* () {
        const tenant = yield* CurrentTenant
        const [series] = yield* lockSeries(tenant)
        if (series === undefined) return yield* Effect.dieMessage("The upsert of the invoice series returned no row")
        const { issuedAt, pattern } = series
        const period = numberingPeriod(pattern, issuedAt)
        const [counter] = yield* incrementCounter(tenant, period)
        const place = counter?.place ?? 1
        return { issuedAt, period, place, invoiceNumber: formatInvoiceNumber(pattern, issuedAt, place) }
      }).pipe(Effect.orDie),

      getSeries: Effect.gen(function* () {
        const tenant = yield* CurrentTenant
        return { pattern: yield* loadPattern(tenant), periods: (yield* loadPeriods(tenant)).map(toPeriod) }
      }).pipe(Effect.orDie),

      /**
       * Sets the pattern from the next number on. Reads the periods before it locks the series, because that is slow
       * for many invoices.
       */
      setPattern: Effect.fnUntraced(function* (pattern: string) {
        const tenant = yield* CurrentTenant
        const series = { pattern, periods: (yield* loadPeriods(tenant)).map(toPeriod) }
        const event = record({
          tenant,
          type: "invoice_series.updated" satisfies EventType,
          resource: seriesIdOf(tenant),
          client: undefined,
          sequence: sql.literal("changed.sequence"),
          at: new Date().toISOString(),
          data: series
        })
        yield* sql`
          with changed as (
            insert into invoice_series as series (tenant_id, pattern, sequence) values (${tenant}, ${pattern}, 1)
            on conflict (tenant_id) do update set pattern = excluded.pattern, sequence = series.sequence + 1
            returning sequence
          ) ${event}`
        return series
      }, Effect.orDie)
    }
  }).pipe(withSpans("InvoiceNumbers"))
}) {}
