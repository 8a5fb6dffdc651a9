import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import {
  Delivery,
  DeliveryId,
  DeliveryStatus,
  DeliveryWithAttempts,
  EventTypeFilter,
  Redelivery,
  RedeliveryResult
} from "../../../../domain/delivery/Delivery.ts"
import { IntegrationId } from "../../../../domain/integrations/Integration.ts"
import { optional, UtcDateTime } from "../../../../domain/Schemas.ts"
import { inTenant, operation } from "../../Access.ts"
import { data } from "../../Envelope.ts"
import { pageQueryFields } from "../../Paging.ts"

const integrationPath = Schema.Struct({ integrationId: IntegrationId })
const path = Schema.Struct({ integrationId: IntegrationId, deliveryId: DeliveryId })

export class DeliveriesApi extends HttpApiGroup.make("deliveries")
  .annotate(OpenApi.Description, "What became of the events an integration is told of, and telling them again")
  .add(
    HttpApiEndpoint.get("list", "/integrations/:integrationId/deliveries")
      .setPath(integrationPath)
      .setUrlParams(
        Schema.Struct({
          ...pageQueryFields,
          status: optional(DeliveryStatus),
          eventType: optional(EventTypeFilter),
          since: optional(UtcDateTime),
          until: optional(UtcDateTime)
        })
      )
      .addSuccess(data(Schema.Array(Delivery)))
      .annotateContext(operation("List the deliveries to an integration", inTenant("VIEWER")))
  )
  .add(
    HttpApiEndpoint.get("get", "/integrations/:integrationId/deliveries/:deliveryId")
      .setPath(path)
      .addSuccess(data(DeliveryWithAttempts))
      .annotateContext(operation("Get one delivery with its attempts", inTenant("VIEWER")))
  )
  .add(
    HttpApiEndpoint.post("redeliver", "/integrations/:integrationId/deliveries/:deliveryId/redeliver")
      .setPath(path)
      .addSuccess(data(DeliveryWithAttempts))
      .annotateContext(operation("Send a delivery again, now", inTenant("ADMIN")))
  )
  .add(
    HttpApiEndpoint.post("redeliverAll", "/integrations/:integrationId/redeliver")
      .setPath(integrationPath)
      .setPayload(Redelivery)
      .addSuccess(data(RedeliveryResult))
      .annotateContext(operation("Send every finished delivery of a time again", inTenant("ADMIN")))
  ) {}
