import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "@effect/platform"
import { Schema } from "effect"
import { ClientId } from "../../domain/contracting/Client.ts"
import { AgingTotal, ClientAging } from "../../domain/reports/Aging.ts"
import { rejectedSums } from "../../domain/reports/ReportAmount.ts"
import { asOfQueryFields, maxPeriodYears, periodQueryFields } from "../../domain/reports/ReportPeriod.ts"
import { ClientRevenue, Revenue, revenueGroupings, TaxSum } from "../../domain/reports/Revenue.ts"
import { maxStatementEntries, Statement, statementCsvFields, toStatementRows } from "../../domain/reports/Statement.ts"
import { field, oneOf, optional } from "../../domain/Schemas.ts"
import { External, inTenant } from "../api/Access.ts"
import { CsvForm, csvRows } from "../api/CsvRows.ts"
import { data } from "../api/Envelope.ts"
import { operation, tag } from "../api/Operation.ts"
import { pageQueryFields } from "../api/Paging.ts"

const clientPath = Schema.Struct({ clientId: ClientId })
const PeriodQuery = Schema.Struct(periodQueryFields)

const rejectedPeriods = [`a \`to\` before \`from\`, or ${maxPeriodYears} years after it (\`max\`)`, rejectedSums]
const rejectedStatements = [
  ...rejectedPeriods,
  `a period with more than ${maxStatementEntries} entries of the client (\`maxItems\`)`
]
const rejectedDays = ["an `asOf` in the future (`max`)", rejectedSums]

export class ReportsApi extends HttpApiGroup.make("reports")
  .annotateContext(
    tag(
      "Reports",
      "Invoices",
      "What clients owed and what was invoiced, from the journal by the time of booking. A day that has ended gives the same " +
        "report ever after."
    )
  )
  .add(
    HttpApiEndpoint.get("statement", "/clients/:clientId/statement")
      .setPath(clientPath)
      .setUrlParams(PeriodQuery)
      .addSuccess(data(Statement))
      .annotateContext(
        operation("Get the statement of a client", inTenant("VIEWER"), {
          description:
            "Returns by currency the balance of a client before a period, each entry of the period with the balance after " +
            "it, and the balance at the end. The balance is what the client owes less what it has paid in advance. An " +
            "allocation changes neither, and is no entry of a statement.",
          rejects: rejectedStatements
        })
      )
      .annotate(CsvForm, csvRows(statementCsvFields, toStatementRows))
  )
  .add(
    HttpApiEndpoint.get("statementPdf", "/clients/:clientId/statement/pdf")
      .setPath(clientPath)
      .setUrlParams(PeriodQuery)
      .addSuccess(HttpApiSchema.Uint8Array({ contentType: "application/pdf" }))
      .annotateContext(
        operation("Download the statement of a client as PDF", inTenant("VIEWER"), {
          description: "Returns the same statement as a PDF, rendered for each request.",
          rejects: rejectedStatements
        })
      )
      .annotate(External, true)
  )
  .add(
    HttpApiEndpoint.get("aging", "/reports/aging")
      .setUrlParams(Schema.Struct({ ...asOfQueryFields, ...pageQueryFields }))
      .addSuccess(data(Schema.Array(ClientAging)))
      .annotateContext(
        operation("List what clients owe by age", inTenant("VIEWER"), {
          description:
            "Lists by client and currency what was open at the end of a day, by how many days it was overdue, and what " +
            "clients had paid in advance. Clients who owed nothing and had nothing left are not listed.",
          rejects: rejectedDays
        })
      )
  )
  .add(
    HttpApiEndpoint.get("agingTotals", "/reports/aging/totals")
      .setUrlParams(Schema.Struct(asOfQueryFields))
      .addSuccess(data(Schema.Array(AgingTotal)))
      .annotateContext(
        operation("Sum up what clients owe by age", inTenant("VIEWER"), {
          description: "Returns the sums of `GET /reports/aging` over all clients, by currency.",
          rejects: rejectedDays
        })
      )
  )
  .add(
    HttpApiEndpoint.get("revenue", "/reports/revenue")
      .setUrlParams(
        Schema.Struct({
          ...periodQueryFields,
          by: optional(
            field(
              oneOf(...revenueGroupings),
              "Sums for the whole period, or for each month. Default: currency.",
              "month"
            )
          )
        })
      )
      .addSuccess(data(Schema.Array(Revenue)))
      .annotateContext(
        operation("Sum up the revenue", inTenant("VIEWER"), {
          description:
            "Returns by currency what was invoiced in a period: the net amounts of the invoices that were finalized in it, " +
            "less those that were voided in it and less its credit notes. Months without any are not listed.",
          rejects: rejectedPeriods
        })
      )
  )
  .add(
    HttpApiEndpoint.get("clientRevenue", "/reports/revenue/clients")
      .setUrlParams(Schema.Struct({ ...periodQueryFields, ...pageQueryFields }))
      .addSuccess(data(Schema.Array(ClientRevenue)))
      .annotateContext(
        operation("List the revenue by client", inTenant("VIEWER"), {
          description:
            "Lists by client and currency what was invoiced in a period, as `GET /reports/revenue` sums it up.",
          rejects: rejectedPeriods
        })
      )
  )
  .add(
    HttpApiEndpoint.get("tax", "/reports/tax")
      .setUrlParams(PeriodQuery)
      .addSuccess(data(Schema.Array(TaxSum)))
      .annotateContext(
        operation("Sum up the taxes", inTenant("VIEWER"), {
          description:
            "Returns by currency and tax the net amounts that it was charged on and the tax itself, of the invoices that " +
            "were finalized in a period, less those that were voided in it and less its credit notes.",
          rejects: rejectedPeriods
        })
      )
  ) {}
