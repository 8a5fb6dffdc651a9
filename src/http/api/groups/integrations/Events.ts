import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { Event, EventId } from "../../../../domain/events/Event.ts"
import { EventPattern } from "../../../../domain/events/EventCatalogue.ts"
import { optional } from "../../../../domain/Schemas.ts"
import { inTenant, operation } from "../../Access.ts"
import { data } from "../../Envelope.ts"
import { pageQueryFields } from "../../Paging.ts"

export class EventsApi extends HttpApiGroup.make("events")
  .annotate(OpenApi.Description, "What happened, in an order that can be read on from")
  .add(
    HttpApiEndpoint.get("feed", "/events")
      .setUrlParams(
        Schema.Struct({ after: optional(EventId), type: optional(EventPattern), limit: pageQueryFields.limit })
      )
      .addSuccess(data(Schema.Array(Event)))
      .annotateContext(operation("Read on in the feed of events", inTenant("VIEWER")))
  )
  .add(
    HttpApiEndpoint.get("get", "/events/:eventId")
      .setPath(Schema.Struct({ eventId: EventId }))
      .addSuccess(data(Event))
      .annotateContext(operation("Get one event", inTenant("VIEWER")))
  ) {}
