import { HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { Schema } from "effect"
import {
  Delivery,
  DeliveryId,
  DeliveryStatus,
  DeliveryWithAttempts,
  deliverySorts,
  EventTypeFilter,
  maxOpenRedeliveries,
  Redelivery,
  RedeliveryResult
} from "../../domain/delivery/Delivery.ts"
import { IntegrationId } from "../../domain/integrations/Integration.ts"
import { field, optional, UtcDateTime } from "../../domain/Schemas.ts"
import { inTenant } from "../api/Access.ts"
import { data } from "../api/Envelope.ts"
import { operation, tag } from "../api/Operation.ts"
import { pageQueryFields, sortParameter } from "../api/Paging.ts"

const integrationPath = Schema.Struct({ integrationId: IntegrationId })
const path = Schema.Struct({ integrationId: IntegrationId, deliveryId: DeliveryId })

export class DeliveriesApi extends HttpApiGroup.make("deliveries")
  .annotateContext(
    tag(
      "Deliveries",
      "Integrations and events",
      "The deliveries of events to an integration, with a log of every attempt. A delivery that fails is " +
        "retried for days, with growing pauses. Events of one resource arrive in order."
    )
  )
  .add(
    HttpApiEndpoint.get("list", "/integrations/:integrationId/deliveries")
      .setPath(integrationPath)
      .setUrlParams(
        Schema.Struct({
          ...pageQueryFields,
          status: optional(DeliveryStatus),
          eventType: optional(EventTypeFilter),
          since: optional(field(UtcDateTime, "Only those created at or after this time.", "2026-11-14T00:00:00.000Z")),
          until: optional(field(UtcDateTime, "Only those created at or before this time.", "2026-11-15T00:00:00.000Z")),
          ...sortParameter(deliverySorts, "identifier, which is by age")
        })
      )
      .addSuccess(data(Schema.Array(Delivery)))
      .annotateContext(
        operation("List deliveries", inTenant("VIEWER"), {
          description:
            "Lists the deliveries to an integration, oldest first unless sorted, one page at a time. Filters by " +
            "status, event type and time."
        })
      )
  )
  .add(
    HttpApiEndpoint.get("get", "/integrations/:integrationId/deliveries/:deliveryId")
      .setPath(path)
      .addSuccess(data(DeliveryWithAttempts))
      .annotateContext(
        operation("Get a delivery with its attempts", inTenant("VIEWER"), {
          description: "Returns one delivery, with the log of its attempts."
        })
      )
  )
  .add(
    HttpApiEndpoint.post("redeliver", "/integrations/:integrationId/deliveries/:deliveryId/redeliver")
      .setPath(path)
      .addSuccess(data(DeliveryWithAttempts))
      .annotateContext(
        operation("Redeliver one delivery", inTenant("ADMIN"), {
          description:
            "Sends a delivery again, whatever its status. One that waits for its next attempt is sent at once."
        })
      )
  )
  .add(
    HttpApiEndpoint.post("redeliverAll", "/integrations/:integrationId/redeliver")
      .setPath(integrationPath)
      .setPayload(Redelivery)
      .addSuccess(data(RedeliveryResult))
      .annotateContext(
        operation("Redeliver all deliveries of a period", inTenant("ADMIN"), {
          description:
            "Sends all finished deliveries of a period again, in order. A large number is queued in the " +
            "background: `isComplete` is false then.",
          rejects: [
            "an `until` before `since` (`min`)",
            `a request while ${maxOpenRedeliveries} others of the integration are not complete (\`state\`)`
          ]
        })
      )
  ) {}
