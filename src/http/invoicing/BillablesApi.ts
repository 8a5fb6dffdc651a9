import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "@effect/platform"
import { Schema } from "effect"
import {
  Billable,
  BillableId,
  CreateBillables,
  maxBillablesPerRequest,
  PatchBillable
} from "../../domain/invoicing/Billable.ts"
import { InvoiceId } from "../../domain/invoicing/Invoice.ts"
import { field, optional, text } from "../../domain/Schemas.ts"
import { CreateBillablesFromIssues } from "../../domain/trackers/IssueBilling.ts"
import { inTenant, MaxBodyBytes, StartsWithStatement } from "../api/Access.ts"
import { created, data } from "../api/Envelope.ts"
import { operation, tag } from "../api/Operation.ts"
import { pageQueryFields } from "../api/Paging.ts"

const path = Schema.Struct({ billableId: BillableId })

export class BillablesApi extends HttpApiGroup.make("billables")
  .annotateContext(
    tag("Billables", "Invoices", "The lines of invoices. They can change while their invoice is a draft.")
  )
  .add(
    HttpApiEndpoint.get("list", "/billables")
      .setUrlParams(
        Schema.Struct({
          ...pageQueryFields,
          invoiceId: optional(field(InvoiceId, "Only lines of this invoice.")),
          referenceType: optional(
            field(text(1, 100), "Only the line that bills an item of this kind; with `referenceId`.", "jira")
          ),
          referenceId: optional(
            field(
              text(1, 100),
              "Only the line that bills this item, void invoices excluded; with `referenceType`.",
              "NORTH-318"
            )
          )
        })
      )
      .addSuccess(data(Schema.Array(Billable)))
      .annotateContext(
        operation("List billables", inTenant("VIEWER"), {
          description:
            "Lists lines of invoices, sorted by `order`, then by identifier, one page at a time. With " +
            "`invoiceId`, only those of one invoice. With `referenceType` and `referenceId`, the line that bills an item.",
          rejects: ["one of `referenceType` and `referenceId` alone (`required`)"]
        })
      )
  )
  .add(
    HttpApiEndpoint.post("create", "/billables")
      .setPayload(CreateBillables)
      .addSuccess(data(Schema.Array(Billable)), created)
      .annotateContext(
        operation("Add lines to a draft invoice", inTenant("MEMBER"), {
          description:
            `Adds up to ${maxBillablesPerRequest} lines to a draft and updates its totals, all or nothing. A line costs quantity ` +
            "times price, rounded once, half away from zero, less its discount. Taxes are computed for the whole invoice.",
          rejects: [
            "an invoice that is not a DRAFT (`state`)",
            "a line in another currency than the invoice (`currency`)",
            "a reference that another invoice bills already (`unique`), or half a reference (`required`)",
            "an amount beyond the cap of the contract (`max`)",
            "a discount on a line without a positive amount (`min`), or above it (`max`)",
            "a tax rate that does not exist (`exists`) or is archived (`state`), or two with a VAT category (`maxItems`)",
            "more lines than an invoice can have (`quota`)",
            "an `invoiceId` that does not exist in the tenant (404)"
          ],
          events: ["billable.created", "invoice.updated"]
        })
      )
      .annotate(MaxBodyBytes, 4 * 1024 * 1024)
  )
  .add(
    HttpApiEndpoint.post("createFromIssues", "/invoices/:invoiceId/billables/from-issues")
      .setPath(Schema.Struct({ invoiceId: InvoiceId }))
      .setPayload(CreateBillablesFromIssues)
      .addSuccess(data(Schema.Array(Billable)), created)
      .annotateContext(
        operation("Bill issues of a tracker", inTenant("MEMBER"), {
          description:
            "Adds one line for each selected issue to a draft, all or nothing. `issueKeys` names issues, and " +
            "`filter` selects all matching issues that are not billed yet. Every line refers to its issue, " +
            "which can be billed only once.",
          rejects: [
            "both or none of `issueKeys` and `filter` (`unknown`, `required`)",
            "an issue that does not exist (`exists`) or is billed already (`unique`)",
            `a filter that matches no unbilled issue (\`minItems\`), or more than ${maxBillablesPerRequest} (\`maxItems\`)`,
            "a tax rate that a new line cannot have (`exists`, `state`, `maxItems`)",
            "an invoice that is not a DRAFT (`state`)",
            "an amount beyond the cap of the contract (`max`)"
          ],
          events: ["billable.created", "invoice.updated"]
        })
      )
  )
  .add(
    HttpApiEndpoint.get("get", "/billables/:billableId")
      .setPath(path)
      .addSuccess(data(Billable))
      .annotateContext(
        operation("Get a billable", inTenant("VIEWER"), { description: "Returns one line of an invoice." })
      )
  )
  .add(
    HttpApiEndpoint.patch("patch", "/billables/:billableId")
      .setPath(path)
      .setPayload(PatchBillable)
      .addSuccess(data(Billable))
      .annotateContext(
        operation("Update a line of a draft invoice", inTenant("MEMBER"), {
          description: "Changes the given fields of a line and updates the totals of its invoice.",
          rejects: [
            "a line of an invoice that is not a DRAFT (`state`)",
            "another currency than that of the invoice (`currency`)",
            "a reference that another invoice bills already (`unique`)",
            "a discount or a tax rate that a new line cannot have (`min`, `max`, `exists`, `state`, `maxItems`)",
            "an amount beyond the cap of the contract (`max`)"
          ],
          events: ["billable.updated", "invoice.updated"]
        })
      )
  )
  .add(
    HttpApiEndpoint.del("remove", "/billables/:billableId")
      .setPath(path)
      .addSuccess(HttpApiSchema.NoContent)
      .annotateContext(
        operation("Delete a line of a draft invoice", inTenant("MEMBER"), {
          description: "Deletes a line and updates the totals of its invoice. What it refers to can be billed again.",
          rejects: ["a line of an invoice that is not a DRAFT (`state`)"],
          events: ["billable.deleted", "invoice.updated"]
        })
      )
  )
  .annotateEndpoints(StartsWithStatement, true) {}
