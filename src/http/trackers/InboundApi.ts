import { HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { Schema } from "effect"
import { IntegrationId } from "../../domain/integrations/Integration.ts"
import { field, optional, UtcDateTime } from "../../domain/Schemas.ts"
import {
  InboundStatus,
  InboundWebhook,
  InboundWebhookId,
  InboundWebhookWithBody,
  inboundSorts
} from "../../domain/trackers/InboundWebhook.ts"
import { inTenant } from "../api/Access.ts"
import { data } from "../api/Envelope.ts"
import { operation, tag } from "../api/Operation.ts"
import { pageQueryFields, sortParameter } from "../api/Paging.ts"

const path = Schema.Struct({ integrationId: IntegrationId, webhookId: InboundWebhookId })

export class InboundApi extends HttpApiGroup.make("inbound")
  .annotateContext(
    tag(
      "Inbound webhooks",
      "Issue trackers",
      "The webhooks that a tracker sent to an integration, with their processing status."
    )
  )
  .add(
    HttpApiEndpoint.get("list", "/integrations/:integrationId/inbound")
      .setPath(Schema.Struct({ integrationId: IntegrationId }))
      .setUrlParams(
        Schema.Struct({
          ...pageQueryFields,
          status: optional(InboundStatus),
          since: optional(field(UtcDateTime, "Only those received at or after this time.", "2026-11-14T00:00:00.000Z")),
          until: optional(
            field(UtcDateTime, "Only those received at or before this time.", "2026-11-15T00:00:00.000Z")
          ),
          ...sortParameter(inboundSorts, "identifier, which is by age")
        })
      )
      .addSuccess(data(Schema.Array(InboundWebhook)))
      .annotateContext(
        operation("List inbound webhooks", inTenant("VIEWER"), {
          description:
            "Lists the webhooks that an integration received, oldest first unless sorted, one page at a time. " +
            "Filters by status and time."
        })
      )
  )
  .add(
    HttpApiEndpoint.get("get", "/integrations/:integrationId/inbound/:webhookId")
      .setPath(path)
      .addSuccess(data(InboundWebhookWithBody))
      .annotateContext(
        operation("Get an inbound webhook with its body", inTenant("VIEWER"), {
          description: "Returns one webhook, with its body while it is kept."
        })
      )
  )
  .add(
    HttpApiEndpoint.post("replay", "/integrations/:integrationId/inbound/:webhookId/replay")
      .setPath(path)
      .addSuccess(data(InboundWebhookWithBody))
      .annotateContext(
        operation("Replay an inbound webhook", inTenant("ADMIN"), {
          description:
            "Processes a webhook again, as if it had just arrived. It changes nothing that a newer webhook " +
            "has set. Events of the issue follow when it is processed.",
          rejects: ["a webhook whose body is no longer kept (`state`)"],
          example: { status: "RECEIVED", attempts: 0, processedAt: undefined }
        })
      )
  ) {}
