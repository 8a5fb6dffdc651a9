import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { EndpointKey, IssueWebhook, WebhookHeaders, WebhookReceipt } from "../../../../domain/tracker/IssueWebhook.ts"
import { MaxBodyBytes, NoEvents, operation, RetriedBySender, trackerOrAdmin } from "../../Access.ts"
import { data } from "../../Envelope.ts"

export class WebhooksApi extends HttpApiGroup.make("webhooks")
  .annotate(OpenApi.Description, "Where trackers tell what happens to their issues")
  .add(
    HttpApiEndpoint.post("receive", "/webhooks/:endpointKey")
      .setPath(Schema.Struct({ endpointKey: EndpointKey }))
      .setHeaders(WebhookHeaders)
      .setPayload(IssueWebhook)
      .addSuccess(data(WebhookReceipt))
      .annotateContext(operation("Receive a webhook of an issue tracker", trackerOrAdmin))
      .annotate(MaxBodyBytes, 5 * 1024 * 1024)
      .annotate(RetriedBySender, true)
      .annotate(NoEvents, true)
  ) {}
