import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { EventType } from "../../domain/events/EventCatalogue.ts"
import {
  type Counter,
  continueWith,
  defaultNumberPatterns,
  formatNumber,
  type NumberedDocument,
  newCounter,
  numberingPeriod,
  seriesIdOf,
  wholePeriod,
  yearAround,
  yearAroundHours,
  yearPlaceholder
} from "../../domain/invoicing/NumberSeries.ts"
import { defaultTimeZone, localDateOf } from "../../domain/locale/TimeZone.ts"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import { inTransaction } from "../infra/postgres/connection/Transactions.ts"
import { currentOrigin, insertEvents } from "../infra/postgres/repository/EventLog.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"

/** The tables of a series. */
interface SeriesSpec {
  readonly document: NumberedDocument
  /** The table of the documents, and its column with their number. */
  readonly table: string
  readonly column: string
  /** The columns of a period beside its number of documents. */
  readonly counts: string
}

interface CountedRow {
  readonly period: string
  readonly place: number
}

/** What locking the series returns. `period` and `place` are null when it counted nothing. */
type AllocationRow = { readonly pattern: string; readonly issuedAt: string } & (
  | CountedRow
  | { readonly period: null; readonly place: null }
)

/** `first` and `last` are null when every document of the period is missing. */
interface PeriodRow {
  readonly period: string
  readonly first: string | null
  readonly last: string | null
  readonly gaps: ReadonlyArray<{ readonly from: number; readonly to: number }>
}

interface Period extends Omit<PeriodRow, "first" | "last"> {
  readonly first?: string
  readonly last?: string
}

const toPeriod = <Counts>({ first, last, period, ...counts }: PeriodRow & Counts) =>
  ({
    period,
    ...(first === null ? {} : { first }),
    ...(last === null ? {} : { last }),
    ...counts
  }) as Period & Counts // the counts have other names, which the type of the rest does not say

/** The periods with this one, which has no numbers yet. */
const withPeriod = <A extends Period>(periods: ReadonlyArray<A>, added: A): ReadonlyArray<A> =>
  periods.some(({ period }) => period === added.period)
    ? periods
    : [...periods, added].sort((a, b) => (a.period < b.period ? -1 : 1))

/** Allocates gapless numbers: under a lock on the tenant's series, in the transaction that issues the document. */
const makeNumberSeries = <Counts extends object>({ column, counts, document, table }: SeriesSpec, none: Counts) =>
  Effect.map(SqlClient.SqlClient, (sql) => {
    const record = insertEvents(sql)
    const defaultPattern = defaultNumberPatterns[document]
    const [seriesTable, counters] = [sql.literal(`${document}_series`), sql.literal(`${document}_counters`)]
    const number = sql.literal(column)
    const knownFor = sql.literal(`interval '${yearAroundHours} hours'`)

    /**
     * Locks the series, reads the clock, and increments the counter: one statement, because all other allocations of the
     * tenant wait meanwhile. The date of issue never decreases while the numbers increase. Counts nothing when the
     * period is not known before the lock, around New Year.
     */
    const lockSeriesAndCount = (tenant: string, now: Date) => sql<AllocationRow>`
      with series as (
        insert into ${seriesTable} as series (tenant_id, pattern, last_issued)
        values (${tenant}, ${defaultPattern}, date_trunc('milliseconds', clock_timestamp()))
        on conflict (tenant_id) do update
          set last_issued = greatest(series.last_issued, date_trunc('milliseconds', clock_timestamp()))
        returning pattern, last_issued
      ), counted as (
        insert into ${counters} as counter (tenant_id, period, last)
        select ${tenant}, period, 1 from (
          select case when position(${yearPlaceholder} in pattern) = 0 then ${wholePeriod}
            when last_issued between ${now.toISOString()}::timestamptz - ${knownFor}
              and ${now.toISOString()}::timestamptz + ${knownFor}
            then ${yearAround(now) ?? null} end as period
          from series
        ) known where period is not null
        on conflict (tenant_id, period) do update set last = counter.last + 1
        returning period, last as place
      )
      select pattern, last_issued as "issuedAt", period, place from series left join counted on true`

    const incrementCounter = (tenant: string, period: string) => sql<CountedRow>`
      insert into ${counters} as counter (tenant_id, period, last) values (${tenant}, ${period}, 1)
      on conflict (tenant_id, period) do update set last = counter.last + 1
      returning period, last as place`

    const loadPattern = (tenant: string) =>
      Effect.map(
        sql<{ pattern: string }>`select pattern from ${seriesTable} where tenant_id = ${tenant}`,
        ([series]) => series?.pattern ?? defaultPattern
      )

    /**
     * A gap is where a place does not follow its predecessor. The counter adds the next place, which reveals a gap at
     * the end.
     */
    const loadPeriods = (tenant: string) => sql<PeriodRow & Counts>`
      with placed as (
        select period, place, ${number} as number, status from ${sql.literal(table)} where tenant_id = ${tenant} and place is not null
      ), followed as (
        select period, place, lag(place, 1, coalesce(counter.start, 1) - 1) over (partition by period order by place) as before
        from (select period, place from placed union all
          select period, last + 1 from ${counters} where tenant_id = ${tenant}) places
        left join (select period, start from ${counters} where tenant_id = ${tenant}) counter using (period)
      ), ends as (
        select period, min(placed.place) as first_place, max(placed.place) as last_place, ${sql.literal(counts)}
        from (select distinct period from followed) periods left join placed using (period) group by period
      )
      select ends.period, f.number as first, l.number as last, ${sql.literal(
        Object.keys(none)
          .map((name) => `ends.${name}`)
          .join(", ")
      )},
        coalesce((select json_agg(json_build_object('from', before + 1, 'to', place - 1) order by place)
          from followed where followed.period = ends.period and place <> before + 1), '[]') as gaps
      from ends
      left join placed f on f.period = ends.period and f.place = ends.first_place
      left join placed l on l.period = ends.period and l.place = ends.last_place
      order by ends.period`

    /** The current period of a tenant's series, and the period's counter. */
    const loadCounter = Effect.fnUntraced(function* (tenant: string, pattern: string) {
      const [zone] = yield* sql<{ timeZone: string }>`select time_zone as "timeZone" from tenants where id = ${tenant}`
      const today = localDateOf(new Date().toISOString(), zone?.timeZone ?? defaultTimeZone)
      const period = numberingPeriod(pattern, today)
      const [counter = newCounter] = yield* sql<Counter>`
        select start, last from ${counters} where tenant_id = ${tenant} and period = ${period}`
      return { period, counter }
    })

    const saveCounter = (tenant: string, period: string, { last, start }: Counter) => sql`
      insert into ${counters} (tenant_id, period, start, last) values (${tenant}, ${period}, ${start}, ${last})
      on conflict (tenant_id, period) do update set start = excluded.start, last = excluded.last`

    /** Locks the series, as every allocation of a number does, and writes its pattern. */
    const savePattern = (tenant: string, pattern: string | undefined) => sql<{ pattern: string; sequence: number }>`
      insert into ${seriesTable} as series (tenant_id, pattern, sequence)
      values (${tenant}, ${pattern ?? defaultPattern}, 1)
      on conflict (tenant_id) do update
        set pattern = coalesce(${pattern ?? null}, series.pattern), sequence = series.sequence + 1
      returning pattern, sequence`

    return {
      /** Allocates the next number. The caller's transaction must save a document with this number or roll back. */
      allocate: Effect.fnUntraced(function* (timeZone: string) {
        const tenant = yield* CurrentTenant
        const [series] = yield* lockSeriesAndCount(tenant, new Date())
        if (series === undefined) return yield* Effect.dieMessage("The upsert of the series returned no row")
        const { issuedAt, pattern } = series
        const issueDate = localDateOf(issuedAt, timeZone)
        const period = numberingPeriod(pattern, issueDate)
        const counted = series.place === null ? (yield* incrementCounter(tenant, period))[0] : series
        if (counted?.period !== period) return yield* Effect.dieMessage(`The counter is not that of ${period}`)
        const { place } = counted
        return { issuedAt, period, place, number: formatNumber(pattern, issueDate, place) }
      }, Effect.orDie),

      getSeries: Effect.gen(function* () {
        const tenant = yield* CurrentTenant
        const pattern = yield* loadPattern(tenant)
        const { counter } = yield* loadCounter(tenant, pattern)
        return {
          pattern,
          next: counter.last + 1,
          periods: (yield* loadPeriods(tenant)).map((row) => toPeriod<Counts>(row))
        }
      }).pipe(Effect.orDie),

      /**
       * Sets the pattern from the next number on, and where the counter of the current period goes on. Reads the periods
       * before it locks the series, because that is slow for many documents.
       */
      update: (change: { readonly pattern?: string; readonly next?: number }) =>
        Effect.gen(function* () {
          const tenant = yield* CurrentTenant
          const periods = (yield* loadPeriods(tenant)).map((row) => toPeriod<Counts>(row))
          const [saved] = yield* savePattern(tenant, change.pattern)
          if (saved === undefined) return yield* Effect.dieMessage("The upsert of the series returned no row")
          const { pattern } = saved
          const { counter, period } = yield* loadCounter(tenant, pattern)
          const next = change.next === undefined ? counter : yield* continueWith(counter, change.next, period)
          if (next !== counter) yield* saveCounter(tenant, period, next)
          const series = {
            pattern,
            next: next.last + 1,
            periods: next === counter ? periods : withPeriod(periods, { period, gaps: [], ...none })
          }
          yield* record([
            {
              tenant,
              type: `${document}_series.updated` satisfies EventType,
              resource: seriesIdOf(document, tenant),
              client: undefined,
              sequence: saved.sequence,
              at: new Date().toISOString(),
              ...(yield* currentOrigin),
              data: series
            }
          ])
          return series
        }).pipe(inTransaction(sql))
    }
  })

export class InvoiceNumbers extends Effect.Service<InvoiceNumbers>()("layers/InvoiceNumbers", {
  effect: makeNumberSeries(
    {
      document: "invoice",
      table: "invoices",
      column: "invoice_number",
      counts: "count(placed.place) as count, count(*) filter (where status = 'VOID') as voids"
    },
    { count: 0, voids: 0 }
  ).pipe(withSpans("InvoiceNumbers"))
}) {}

export class CreditNoteNumbers extends Effect.Service<CreditNoteNumbers>()("layers/CreditNoteNumbers", {
  effect: makeNumberSeries(
    {
      document: "credit_note",
      table: "credit_notes",
      column: "credit_note_number",
      counts: "count(placed.place) as count"
    },
    { count: 0 }
  ).pipe(withSpans("CreditNoteNumbers"))
}) {}
