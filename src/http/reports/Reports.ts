import { Effect } from "effect"
import type { PagePosition } from "../../domain/Paging.ts"
import { callerKey, Principal } from "../../domain/tenancy/RequestContext.ts"
import { AgingReports } from "../../layers/reports/AgingReports.ts"
import { ReportPeriods } from "../../layers/reports/ReportPeriods.ts"
import { RevenueReports } from "../../layers/reports/RevenueReports.ts"
import { StatementPdfs } from "../../layers/reports/StatementPdfs.ts"
import { Statements } from "../../layers/reports/Statements.ts"
import { handleGroup } from "../server/Handlers.ts"
import { HandlerResult } from "../server/response/HandlerResult.ts"
import { listPageBy } from "../server/response/Paging.ts"
import { ReportsApi } from "./ReportsApi.ts"

const dependencies = Effect.all({
  aging: AgingReports,
  pdfs: StatementPdfs,
  periods: ReportPeriods,
  revenue: RevenueReports,
  statements: Statements
})

/** Lists by client have one row for each currency of a client, so that the position of a row needs both. */
const sort = "client"
const positionIn = ({
  client,
  currencyCode
}: {
  readonly client: string
  readonly currencyCode: string
}): PagePosition => ({
  id: client,
  sort,
  key: currencyCode
})

export const reports = handleGroup(ReportsApi, dependencies, ({ aging, pdfs, periods, revenue, statements }) => ({
  statement: ({ path, query }) =>
    Effect.flatMap(periods.resolve(query), (resolved) => statements.get(path.clientId, resolved)),
  statementPdf: ({ path, query }) =>
    Effect.gen(function* () {
      const resolved = yield* periods.resolve(query)
      const pdf = yield* pdfs.render(path.clientId, resolved, [callerKey(yield* Principal)])
      const name = `statement-${resolved.period.from}-${resolved.period.to}.pdf`
      return new HandlerResult(pdf, {
        headers: { "content-type": "application/pdf", "content-disposition": `inline; filename="${name}"` }
      })
    }),
  aging: ({ query }) =>
    Effect.flatMap(periods.resolveDay(query.asOf), (day) =>
      listPageBy({ ...query, sort }, (window) => aging.list(day, window), positionIn)
    ),
  agingTotals: ({ query }) => Effect.flatMap(periods.resolveDay(query.asOf), aging.getTotals),
  revenue: ({ query }) =>
    Effect.flatMap(periods.resolve(query), (resolved) => revenue.getRevenue(resolved, query.by ?? "currency")),
  clientRevenue: ({ query }) =>
    Effect.flatMap(periods.resolve(query), (resolved) =>
      listPageBy({ ...query, sort }, (window) => revenue.listByClient(resolved, window), positionIn)
    ),
  tax: ({ query }) => Effect.flatMap(periods.resolve(query), revenue.getTaxes)
}))
