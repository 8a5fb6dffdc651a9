import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { Billable, BillableId, CreateBillables, PatchBillable } from "../../../../domain/invoicing/Billable.ts"
import { InvoiceId } from "../../../../domain/invoicing/Invoice.ts"
import { optional } from "../../../../domain/Schemas.ts"
import { CreateBillablesFromIssues } from "../../../../domain/tracker/IssueBilling.ts"
import { inTenant, MaxBodyBytes, operation } from "../../Access.ts"
import { created, data } from "../../Envelope.ts"
import { pageQueryFields } from "../../Paging.ts"

const path = Schema.Struct({ billableId: BillableId })

export class BillablesApi extends HttpApiGroup.make("billables")
  .annotate(OpenApi.Description, "The lines of invoices, changed only while the invoice is a draft")
  .add(
    HttpApiEndpoint.get("list", "/billables")
      .setUrlParams(Schema.Struct({ ...pageQueryFields, invoiceId: optional(InvoiceId) }))
      .addSuccess(data(Schema.Array(Billable)))
      .annotateContext(operation("List billables", inTenant("VIEWER")))
  )
  .add(
    HttpApiEndpoint.post("create", "/billables")
      .setPayload(CreateBillables)
      .addSuccess(data(Schema.Array(Billable)), created)
      .annotateContext(operation("Add lines to a draft invoice, all or none", inTenant("MEMBER")))
      .annotate(MaxBodyBytes, 4 * 1024 * 1024)
  )
  .add(
    HttpApiEndpoint.post("createFromIssues", "/invoices/:invoiceId/billables/from-issues")
      .setPath(Schema.Struct({ invoiceId: InvoiceId }))
      .setPayload(CreateBillablesFromIssues)
      .addSuccess(data(Schema.Array(Billable)), created)
      .annotateContext(
        operation("Add lines for issues of a tracker to a draft invoice, all or none", inTenant("MEMBER"))
      )
  )
  .add(
    HttpApiEndpoint.get("get", "/billables/:billableId")
      .setPath(path)
      .addSuccess(data(Billable))
      .annotateContext(operation("Get one billable", inTenant("VIEWER")))
  )
  .add(
    HttpApiEndpoint.patch("patch", "/billables/:billableId")
      .setPath(path)
      .setPayload(PatchBillable)
      .addSuccess(data(Billable))
      .annotateContext(operation("Change a line of a draft invoice", inTenant("MEMBER")))
  )
  .add(
    HttpApiEndpoint.del("remove", "/billables/:billableId")
      .setPath(path)
      .addSuccess(HttpApiSchema.NoContent)
      .annotateContext(operation("Delete a line of a draft invoice", inTenant("MEMBER")))
  ) {}
