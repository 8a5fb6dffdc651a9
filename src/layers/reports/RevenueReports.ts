import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { VatCategory } from "../../domain/money/InvoiceArithmetic.ts"
import type { PageRequest } from "../../domain/Paging.ts"
import { monthsOf } from "../../domain/reports/ReportPeriod.ts"
import {
  type ClientRevenue,
  compareTaxSums,
  type Revenue,
  type revenueGroupings,
  type TaxSum
} from "../../domain/reports/Revenue.ts"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import { requireExactSums } from "../infra/postgres/ExactSums.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { selectBookedDocuments } from "./BookedDocuments.ts"
import type { ResolvedPeriod } from "./ReportPeriods.ts"

const sumOf = (amount: string, kind: string) => `coalesce(sum(${amount}) filter (where kind = '${kind}'), 0)::bigint`

const revenueSums = `${sumOf("net", "INVOICE")} as "invoicedMinor", ${sumOf("net", "VOID")} as "voidedMinor",
  ${sumOf("net", "CREDIT_NOTE")} as "creditedMinor", sum(net)::bigint as "netMinor", sum(tax)::bigint as "taxMinor",
  sum(gross)::bigint as "grossMinor"`

const [taxBase, taxAmount] = [`sign * item."baseMinor"`, `sign * item."taxMinor"`]

const taxSums = `${sumOf(taxBase, "INVOICE")} as "invoicedBaseMinor", ${sumOf(taxAmount, "INVOICE")} as "invoicedTaxMinor",
  ${sumOf(taxBase, "VOID")} as "voidedBaseMinor", ${sumOf(taxAmount, "VOID")} as "voidedTaxMinor",
  ${sumOf(taxBase, "CREDIT_NOTE")} as "creditedBaseMinor", ${sumOf(taxAmount, "CREDIT_NOTE")} as "creditedTaxMinor",
  sum(${taxBase})::bigint as "baseMinor", sum(${taxAmount})::bigint as "taxMinor"`

type MonthRow = Omit<Revenue, "month"> & { readonly place: number }
type TaxRow = Omit<TaxSum, "category"> & { readonly category: VatCategory | null }

const toTaxSum = ({ category, ...sums }: TaxRow): TaxSum => (category === null ? sums : { category, ...sums })

/** What was invoiced in a period, and the taxes on it, by the time of booking. */
export class RevenueReports extends Effect.Service<RevenueReports>()("layers/RevenueReports", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => ({
    /** The revenue by currency, or by month and currency. */
    getRevenue: Effect.fnUntraced(function* (
      { period, timeZone }: ResolvedPeriod,
      by: (typeof revenueGroupings)[number]
    ) {
      const tenant = yield* CurrentTenant
      const months = by === "month" ? monthsOf(period, timeZone) : []
      const starts = `{${months.map(({ start }) => start).join(",")}}`
      const rows = yield* requireExactSums("from")(sql<MonthRow>`
        select place, currency_code as "currencyCode", ${sql.literal(revenueSums)}
        from (
          select *, width_bucket(booked_at, ${starts}::timestamptz[]) as place
          from (${selectBookedDocuments(sql, tenant, period)}) booked
        ) placed group by place, currency_code order by place, currency_code`)
      return rows.map(({ place, ...sums }): Revenue => {
        const month = months[place - 1]?.month
        return month === undefined ? sums : { month, ...sums }
      })
    }),

    /** A page of the revenue by client and currency, in the order of their identifiers. */
    listByClient: Effect.fnUntraced(function* ({ period }: ResolvedPeriod, { after, limit }: PageRequest) {
      const tenant = yield* CurrentTenant
      return yield* requireExactSums("from")(sql<ClientRevenue>`
        select clients.name as "clientName", sums.*
        from (
          select client_id as client, currency_code as "currencyCode", ${sql.literal(revenueSums)}
          from (${selectBookedDocuments(sql, tenant, period)}) booked
          where (client_id, currency_code) > (${after?.id ?? ""}, ${after?.key ?? ""})
          group by client_id, currency_code order by client_id, currency_code limit ${limit + 1}
        ) sums join clients on clients.tenant_id = ${tenant} and clients.id = sums.client
        order by client, "currencyCode"`)
    }),

    /** The taxes by currency. One row for each category, or else name, and percentage. */
    getTaxes: Effect.fnUntraced(function* ({ period }: ResolvedPeriod) {
      const tenant = yield* CurrentTenant
      const rows = yield* requireExactSums("from")(sql<TaxRow>`
        select currency_code as "currencyCode", item.category, min(item.name collate "C") as name, item.percent,
          ${sql.literal(taxSums)}
        from (${selectBookedDocuments(sql, tenant, period)}) booked
        cross join json_to_recordset(taxes) as item (category text, name text, percent numeric, "baseMinor" bigint,
          "taxMinor" bigint)
        group by currency_code, item.category, case when item.category is null then item.name end, item.percent`)
      return rows.map(toTaxSum).sort(compareTaxSums)
    })
  })).pipe(withSpans("RevenueReports"))
}) {}
