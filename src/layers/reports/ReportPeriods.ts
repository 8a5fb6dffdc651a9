import * as SqlClient from "@effect/sql/SqlClient"
import { Effect, Schedule } from "effect"
import { Unavailable } from "../../domain/Errors.ts"
import { defaultTimeZone } from "../../domain/locale/TimeZone.ts"
import {
  passedBoundary,
  type ReportClock,
  type ReportPeriod,
  requireDay,
  requirePeriod
} from "../../domain/reports/ReportPeriod.ts"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"

/** How long a report waits for the transactions of its period. */
const timeout = "5 seconds"

/** Resolves the days of a report to moments, and waits until what is booked before them is final. */
export class ReportPeriods extends Effect.Service<ReportPeriods>()("layers/ReportPeriods", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => {
    const loadClock = Effect.gen(function* () {
      const tenant = yield* CurrentTenant
      const [clock] = yield* Effect.orDie(sql<ReportClock>`
        select time_zone as "timeZone", date_trunc('milliseconds', clock_timestamp()) as now
        from tenants where id = ${tenant}`)
      return clock ?? { now: new Date().toISOString(), timeZone: defaultTimeZone }
    })

    /**
     * Whether a transaction that can have booked something before a moment still runs. A booking reads the clock of the
     * database after its transaction has locked a row, which gives the transaction an identifier. All processes connect
     * as the same user: PostgreSQL hides the transactions of others.
     */
    const hasWriters = (before: string) =>
      Effect.map(
        sql<{ found: boolean }>`select exists (
          select 1 from pg_stat_activity
          where datname = current_database() and backend_xid is not null and xact_start < ${before}) as found`,
        ([row]) => row?.found === true
      )

    const waitForWriters = (before: string) =>
      Effect.orDie(hasWriters(before)).pipe(
        Effect.repeat({ while: (found) => found, schedule: Schedule.spaced("50 millis") }),
        Effect.timeoutFail({
          duration: timeout,
          onTimeout: () => Unavailable.because("a transaction still writes into the period of a report")
        })
      )

    const settle = (period: ReportPeriod, { now, timeZone }: ReportClock) => {
      const boundary = passedBoundary(period, now)
      const resolved = { period, timeZone }
      return boundary === undefined ? Effect.succeed(resolved) : Effect.as(waitForWriters(boundary), resolved)
    }

    return {
      /** Waits until what is booked before a moment is final. Fails with 503 if that takes too long. */
      waitForWriters,

      /** The period of a request. Fails with 503 while a transaction keeps its end open. */
      resolve: Effect.fnUntraced(function* (query: Parameters<typeof requirePeriod>[0]) {
        const clock = yield* loadClock
        return yield* settle(yield* requirePeriod(query, clock), clock)
      }),

      /** The same for a report of one day. */
      resolveDay: Effect.fnUntraced(function* (asOf: string | undefined) {
        const clock = yield* loadClock
        return yield* settle(yield* requireDay(asOf, clock), clock)
      })
    }
  }).pipe(withSpans("ReportPeriods"))
}) {}

/** The period of a report, and the time zone that its days are in. */
export type ResolvedPeriod = Effect.Effect.Success<ReturnType<ReportPeriods["resolve"]>>
