import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { ReportPeriod } from "../../domain/reports/ReportPeriod.ts"
import {
  type BookedEntry,
  maxStatementEntries,
  type OpeningBalance,
  requireExactBalances,
  requireStatementLength,
  type Statement,
  toCurrencyStatements
} from "../../domain/reports/Statement.ts"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import { Clients } from "../contracting/Clients.ts"
import { yieldIfLong } from "../infra/concurrency/EventLoop.ts"
import { inSnapshot } from "../infra/postgres/connection/Transactions.ts"
import { requireExactSums } from "../infra/postgres/ExactSums.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { selectClientEntries } from "./BookedDocuments.ts"
import type { ResolvedPeriod } from "./ReportPeriods.ts"

/** Statements of clients: what was booked in a period, and the balance before and after it. */
export class Statements extends Effect.Service<Statements>()("layers/Statements", {
  dependencies: [Clients.Default],
  effect: Effect.zipWith(SqlClient.SqlClient, Clients, (sql, clients) => {
    const loadOpenings = (tenant: string, client: string, start: string) => sql<OpeningBalance>`
      select currency_code as "currencyCode", sum(invoice_minor - credit_minor)::bigint as "openingMinor"
      from journal_entries where tenant_id = ${tenant} and client_id = ${client} and booked_at < ${start}
      group by currency_code`

    const load = (id: string, period: ReportPeriod) =>
      Effect.gen(function* () {
        const tenant = yield* CurrentTenant
        const client = yield* clients.get(id)
        const entries = yield* sql<BookedEntry>`
          ${selectClientEntries(sql, tenant, id, period)} limit ${maxStatementEntries + 1}`
        yield* requireStatementLength(entries.length, period)
        const openings = yield* requireExactSums("from")(loadOpenings(tenant, id, period.start))
        return { client, entries, openings }
      }).pipe(inSnapshot(sql))

    return {
      get: Effect.fnUntraced(function* (id: string, { period, timeZone }: ResolvedPeriod) {
        const { client, entries, openings } = yield* load(id, period)
        yield* yieldIfLong(entries.length)
        const currencies = toCurrencyStatements(openings, entries, timeZone)
        yield* yieldIfLong(entries.length)
        yield* requireExactBalances(currencies)
        return { client: client.id, from: period.from, to: period.to, currencies } satisfies Statement
      })
    }
  }).pipe(withSpans("Statements"))
}) {}
