import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { InvoiceSeries, PatchInvoiceSeries } from "../../../../domain/invoicing/InvoiceNumber.ts"
import { inTenant, LongRead, operation } from "../../Access.ts"
import { data } from "../../Envelope.ts"

export class InvoiceSeriesApi extends HttpApiGroup.make("invoiceSeries")
  .annotate(OpenApi.Description, "How invoices are numbered, and the proof that no number is missing")
  .add(
    HttpApiEndpoint.get("get", "/invoice-series")
      .addSuccess(data(InvoiceSeries))
      .annotateContext(operation("Show the numbers given so far, period by period", inTenant("VIEWER")))
      // Reads every number of the tenant, which is slow for a tenant with many invoices.
      .annotate(LongRead, true)
  )
  .add(
    HttpApiEndpoint.patch("patch", "/invoice-series")
      .setPayload(PatchInvoiceSeries)
      .addSuccess(data(InvoiceSeries))
      .annotateContext(operation("Change what invoice numbers look like from the next one on", inTenant("ADMIN")))
  ) {}
