import { HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { Schema } from "effect"
import { Event, EventId } from "../../domain/events/Event.ts"
import { EventPattern } from "../../domain/events/EventCatalogue.ts"
import { field, oneOf, optional } from "../../domain/Schemas.ts"
import { inTenant, StartsWithStatement } from "../api/Access.ts"
import { data } from "../api/Envelope.ts"
import { operation, tag } from "../api/Operation.ts"
import { eventsTag } from "../api/openApi/Webhooks.ts"
import { pageQueryFields } from "../api/Paging.ts"

export class EventsApi extends HttpApiGroup.make("events")
  .annotateContext(
    tag(
      eventsTag,
      "Integrations and events",
      "Everything that happens in a tenant: every write records an event. Read them here as a feed, or have " +
        "them delivered to an integration. The `webhooks` of this document describe each event type."
    )
  )
  .add(
    HttpApiEndpoint.get("feed", "/events")
      .setUrlParams(
        Schema.Struct({
          after: optional(field(EventId, "Only what follows this event in the order of the list.")),
          order: optional(
            field(
              oneOf("asc", "desc"),
              "`asc`: oldest first, the default. `desc`: newest first, to start at the end of the feed or to read backwards.",
              "desc"
            )
          ),
          type: optional(EventPattern).annotations({
            description: "Only events of this type, or of all types of a resource."
          }),
          limit: pageQueryFields.limit
        })
      )
      .addSuccess(data(Schema.Array(Event)))
      .annotateContext(
        operation("Read the event feed", inTenant("VIEWER"), {
          exampleEvent: "invoice.finalized",
          description:
            "Lists events in the order in which they were published, oldest first. To read on, send the `id` " +
            "of the last event you have as `after`. To start at the end, read the newest event with " +
            "`order=desc&limit=1`, and then what comes after it.",
          rejects: ["an `after` that is not in the feed, or no longer (`exists`)"]
        })
      )
  )
  .add(
    HttpApiEndpoint.get("get", "/events/:eventId")
      .setPath(Schema.Struct({ eventId: EventId }))
      .addSuccess(data(Event))
      .annotateContext(
        operation("Get an event", inTenant("VIEWER"), {
          exampleEvent: "invoice.finalized",
          description: "Returns one event."
        })
      )
  )
  .annotateEndpoints(StartsWithStatement, true) {}
