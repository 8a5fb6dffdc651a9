import { HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { Schema } from "effect"
import { CreateTaxRate, PatchTaxRate, TaxRate, TaxRateId } from "../../domain/taxes/TaxRate.ts"
import { inTenant, StartsWithStatement } from "../api/Access.ts"
import { created, data } from "../api/Envelope.ts"
import { operation, tag } from "../api/Operation.ts"
import { pageQueryFields } from "../api/Paging.ts"

const path = Schema.Struct({ taxRateId: TaxRateId })

export class TaxRatesApi extends HttpApiGroup.make("taxRates")
  .annotateContext(
    tag(
      "Tax rates",
      "Invoices",
      "The taxes that lines of invoices can have, and the defaults of tenants and contracts."
    )
  )
  .add(
    HttpApiEndpoint.get("list", "/tax-rates")
      .setUrlParams(Schema.Struct(pageQueryFields))
      .addSuccess(data(Schema.Array(TaxRate)))
      .annotateContext(
        operation("List tax rates", inTenant("VIEWER"), {
          description:
            "Lists the tax rates of the tenant, archived ones included, sorted by `order`, then by identifier, one page " +
            "at a time."
        })
      )
  )
  .add(
    HttpApiEndpoint.post("create", "/tax-rates")
      .setPayload(CreateTaxRate)
      .addSuccess(data(TaxRate), created)
      .annotateContext(
        operation("Create a tax rate", inTenant("ADMIN"), {
          description:
            "Creates a tax rate. Lines use it by `taxRateIds`, tenants and contracts by `defaultTaxRateIds`. Its " +
            "percentage and its category never change.",
          rejects: [
            "a percentage that does not fit the category: more than 0 for S, 0 for all others (`min`, `max`)",
            "a category without tax that gives no `exemptionReason` (`required`)",
            "more tax rates than a tenant can have (`quota`)"
          ],
          events: ["tax_rate.created"]
        })
      )
  )
  .add(
    HttpApiEndpoint.get("get", "/tax-rates/:taxRateId")
      .setPath(path)
      .addSuccess(data(TaxRate))
      .annotateContext(operation("Get a tax rate", inTenant("VIEWER"), { description: "Returns one tax rate." }))
  )
  .add(
    HttpApiEndpoint.patch("patch", "/tax-rates/:taxRateId")
      .setPath(path)
      .setPayload(PatchTaxRate)
      .addSuccess(data(TaxRate))
      .annotateContext(
        operation("Update a tax rate", inTenant("ADMIN"), {
          description:
            "Changes the given fields of a tax rate. Issued invoices keep the name and the reason that they were " +
            "finalized with.",
          rejects: ["a change of the percentage or the category (`unknown`): archive the rate and create another"],
          events: ["tax_rate.updated"]
        })
      )
  )
  .add(
    HttpApiEndpoint.post("archive", "/tax-rates/:taxRateId/archive")
      .setPath(path)
      .addSuccess(data(TaxRate))
      .annotateContext(
        operation("Archive a tax rate", inTenant("ADMIN"), {
          description: "Ends the use of a tax rate. Lines that have it keep it; nothing new can use it.",
          rejects: [
            "a rate that is a default of the tenant or of a contract (`inUse`)",
            "a rate that is archived already (`state`)"
          ],
          events: ["tax_rate.archived"],
          example: { archivedAt: "2026-12-31T23:00:00.000Z" }
        })
      )
  )
  .annotateEndpoints(StartsWithStatement, true) {}
