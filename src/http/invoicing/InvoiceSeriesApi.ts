import { HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { InvoiceSeries, PatchInvoiceSeries } from "../../domain/invoicing/NumberSeries.ts"
import { inTenant, StartsWithStatement } from "../api/Access.ts"
import { data } from "../api/Envelope.ts"
import { operation, tag } from "../api/Operation.ts"

export class InvoiceSeriesApi extends HttpApiGroup.make("invoiceSeries")
  .annotateContext(
    tag("Invoice series", "Invoices", "How the tenant numbers its invoices, and the proof that no number is missing.")
  )
  .add(
    HttpApiEndpoint.get("get", "/invoice-series")
      .addSuccess(data(InvoiceSeries))
      .annotateContext(
        operation("Get the invoice series", inTenant("VIEWER"), {
          description:
            "Shows the format of invoice numbers, and for each period the first and last number, how many " +
            "there are, how many are void, and any gap."
        })
      )
    // Reads every number of the tenant, which is slow for a tenant with many invoices.
  )
  .add(
    HttpApiEndpoint.patch("patch", "/invoice-series")
      .setPayload(PatchInvoiceSeries)
      .addSuccess(data(InvoiceSeries))
      .annotateContext(
        operation("Change the format of invoice numbers", inTenant("ADMIN"), {
          description: "Sets the format of the numbers to come. Numbers that invoices have stay as they are.",
          events: ["invoice_series.updated"]
        })
      )
  )
  .annotateEndpoints(StartsWithStatement, true) {}
