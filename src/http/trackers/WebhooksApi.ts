import { HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { Schema } from "effect"
import { EndpointKey, IssueWebhook, WebhookHeaders, WebhookReceipt } from "../../domain/trackers/IssueWebhook.ts"
import { MaxBodyBytes, NoEvents, RetriedBySender, trackerOrAdmin } from "../api/Access.ts"
import { data } from "../api/Envelope.ts"
import { operation, tag } from "../api/Operation.ts"

export class WebhooksApi extends HttpApiGroup.make("webhooks")
  .annotateContext(
    tag(
      "Webhook endpoint",
      "Issue trackers",
      "Where trackers send their webhooks. The service registers this URL at the tracker."
    )
  )
  .add(
    HttpApiEndpoint.post("receive", "/webhooks/:endpointKey")
      .setPath(Schema.Struct({ endpointKey: EndpointKey }))
      .setHeaders(WebhookHeaders)
      .setPayload(IssueWebhook)
      .addSuccess(data(WebhookReceipt))
      .annotateContext(
        operation("Receive a webhook of a tracker", trackerOrAdmin, {
          description:
            "Stores a webhook of Jira and responds at once. A worker processes it later, and then records " +
            "`issue.created`, `issue.updated` or `issue.deleted`, and `billable.reference_changed` for a " +
            "line that bills the issue. A repetition with the same identifier is stored once. `accepted` is " +
            "false if no integration wants it."
        })
      )
      .annotate(MaxBodyBytes, 5 * 1024 * 1024)
      .annotate(RetriedBySender, true)
      .annotate(NoEvents, true)
  ) {}
