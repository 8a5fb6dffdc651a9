import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { IntegrationId } from "../../../../domain/integrations/Integration.ts"
import { optional, UtcDateTime } from "../../../../domain/Schemas.ts"
import {
  InboundStatus,
  InboundWebhook,
  InboundWebhookId,
  InboundWebhookWithBody
} from "../../../../domain/tracker/InboundWebhook.ts"
import { inTenant, operation } from "../../Access.ts"
import { data } from "../../Envelope.ts"
import { pageQueryFields } from "../../Paging.ts"

const path = Schema.Struct({ integrationId: IntegrationId, webhookId: InboundWebhookId })

export class InboundApi extends HttpApiGroup.make("inbound")
  .annotate(OpenApi.Description, "The webhooks a tracker sent, what became of each, and working one again")
  .add(
    HttpApiEndpoint.get("list", "/integrations/:integrationId/inbound")
      .setPath(Schema.Struct({ integrationId: IntegrationId }))
      .setUrlParams(
        Schema.Struct({
          ...pageQueryFields,
          status: optional(InboundStatus),
          since: optional(UtcDateTime),
          until: optional(UtcDateTime)
        })
      )
      .addSuccess(data(Schema.Array(InboundWebhook)))
      .annotateContext(operation("List the webhooks that came in for an integration", inTenant("VIEWER")))
  )
  .add(
    HttpApiEndpoint.get("get", "/integrations/:integrationId/inbound/:webhookId")
      .setPath(path)
      .addSuccess(data(InboundWebhookWithBody))
      .annotateContext(operation("Get one webhook with its body", inTenant("VIEWER")))
  )
  .add(
    HttpApiEndpoint.post("replay", "/integrations/:integrationId/inbound/:webhookId/replay")
      .setPath(path)
      .addSuccess(data(InboundWebhookWithBody))
      .annotateContext(
        operation(
          "Work a webhook again; what is older still changes nothing newer, and without its body it is refused",
          inTenant("ADMIN")
        )
      )
  ) {}
