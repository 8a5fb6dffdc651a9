import { HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { CreditNoteSeries, PatchCreditNoteSeries } from "../../domain/invoicing/NumberSeries.ts"
import { inTenant, StartsWithStatement } from "../api/Access.ts"
import { data } from "../api/Envelope.ts"
import { operation, tag } from "../api/Operation.ts"

export class CreditNoteSeriesApi extends HttpApiGroup.make("creditNoteSeries")
  .annotateContext(
    tag(
      "Credit note series",
      "Invoices",
      "How the tenant numbers its credit notes, and the proof that no number is missing."
    )
  )
  .add(
    HttpApiEndpoint.get("get", "/credit-note-series")
      .addSuccess(data(CreditNoteSeries))
      .annotateContext(
        operation("Get the credit note series", inTenant("VIEWER"), {
          description:
            "Shows the format of credit note numbers, and for each period the first and last number, how many there are, " +
            "and any gap."
        })
      )
    // Reads every number of the tenant, which is slow for a tenant with many credit notes.
  )
  .add(
    HttpApiEndpoint.patch("patch", "/credit-note-series")
      .setPayload(PatchCreditNoteSeries)
      .addSuccess(data(CreditNoteSeries))
      .annotateContext(
        operation("Change the format of credit note numbers", inTenant("ADMIN"), {
          description: "Sets the format of the numbers to come. Numbers that credit notes have stay as they are.",
          events: ["credit_note_series.updated"]
        })
      )
  )
  .annotateEndpoints(StartsWithStatement, true) {}
