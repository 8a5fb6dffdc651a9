import * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect } from "effect"
import type { PageRequest } from "../../domain/Paging.ts"
import { type AgingTotal, agingBuckets, type ClientAging, overdueSince } from "../../domain/reports/Aging.ts"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import { requireExactSums } from "../infra/postgres/ExactSums.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import type { ResolvedPeriod } from "./ReportPeriods.ts"

/** `width_bucket` counts from the earliest moment, which begins the last bucket. */
const lastPlace = agingBuckets.length - 1

const bucketSums = agingBuckets
  .map(({ field }, index) => `coalesce(sum(open) filter (where place = ${lastPlace - index}), 0)::bigint as "${field}"`)
  .join(", ")

/** What clients owed at the end of a day, by the time of booking, and how long it was overdue. */
export class AgingReports extends Effect.Service<AgingReports>()("layers/AgingReports", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => {
    /** Selects the sums by currency of the entries that match a condition. */
    const selectSums = (tenant: string, { period, timeZone }: ResolvedPeriod, condition: Fragment) => {
      const moments = overdueSince(period.to, timeZone).map(({ dueBefore }) => dueBefore)
      const ascending = `{${moments.reverse().join(",")}}`
      return sql`
        select ${period.to} as "asOf", currency_code as "currencyCode", ${sql.literal(bucketSums)},
          sum(open)::bigint as "openMinor", sum(unused)::bigint as "unusedMinor"
        from (
          select items.currency_code, open, unused,
            coalesce(width_bucket(due_at, ${ascending}::timestamptz[]), ${sql.literal(String(lastPlace))}) as place
          from (
            select currency_code, invoice_id, sum(invoice_minor) as open, sum(credit_minor) as unused
            from journal_entries entry
            where entry.tenant_id = ${tenant} and booked_at < ${period.end} and ${condition}
            group by currency_code, invoice_id
          ) items
          left join invoices on invoices.tenant_id = ${tenant} and invoices.id = items.invoice_id and open <> 0
        ) placed
        group by currency_code having sum(open) <> 0 or sum(unused) <> 0`
    }

    return {
      /** A page of what clients owed, by client and currency, in the order of their identifiers. */
      list: Effect.fnUntraced(function* (day: ResolvedPeriod, { after, limit }: PageRequest) {
        const tenant = yield* CurrentTenant
        const [client, currency] = [after?.id ?? "", after?.key ?? ""]
        return yield* requireExactSums("asOf")(sql<ClientAging>`
          select clients.id as client, clients.name as "clientName", sums.*
          from clients cross join lateral (${selectSums(tenant, day, sql`entry.client_id = clients.id`)}) sums
          where clients.tenant_id = ${tenant} and clients.id >= ${client}
            and (clients.id, sums."currencyCode") > (${client}, ${currency})
          order by clients.id, sums."currencyCode" limit ${limit + 1}`)
      }),

      /** What all clients owed, by currency. */
      getTotals: Effect.fnUntraced(function* (day: ResolvedPeriod) {
        const tenant = yield* CurrentTenant
        return yield* requireExactSums("asOf")(
          sql<AgingTotal>`select * from (${selectSums(tenant, day, sql`true`)}) sums order by "currencyCode"`
        )
      })
    }
  }).pipe(withSpans("AgingReports"))
}) {}
