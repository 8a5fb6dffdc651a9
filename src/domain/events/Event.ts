import { Schema } from "effect"
import { ClientId } from "../contracting/Client.ts"
import { id } from "../Ids.ts"
import { field, integer, optional, Timestamp } from "../Schemas.ts"
import { TenantId } from "../tenancy/Tenant.ts"
import { describeEvent } from "./EventActions.ts"
import { type EventType, eventTypes } from "./EventCatalogue.ts"

export const EventId = id("evt", "event")

const makeFields = <T extends Schema.Schema.Any, D extends Schema.Schema.AnyNoContext>(type: T, data: D) => ({
  id: EventId,
  type,
  timestamp: field(Timestamp, "When it happened.", "2026-11-14T09:30:00.000Z"),
  tenant: field(TenantId, "The tenant in which it happened."),
  client: optional(field(ClientId, "The client that the resource belongs to, if it belongs to one.")),
  sequence: field(
    integer(1, Number.MAX_SAFE_INTEGER),
    "Counts the events of one resource, from 1. A gap means that you missed an event.",
    1
  ),
  createdBy: optional(field(Schema.String, "Subject of the user that caused it. Workers have none.", "alice")),
  data
})

const AnyEvent = Schema.Struct(makeFields(Schema.String, Schema.Unknown))

export const eventFields = AnyEvent.fields

export interface Event extends Schema.Struct.Type<typeof eventFields> {
  readonly type: EventType
}

/** The name of an event type's schema in the OpenAPI document. */
export const eventSchemaName = (type: EventType) => `Event.${type}`

/** One schema per event type. */
export const eventSchemas = eventTypes.map(({ schema, type }) =>
  Schema.Struct(makeFields(field(Schema.Literal(type), "Type of the event."), schema)).annotations({
    identifier: eventSchemaName(type),
    description: describeEvent(type)
  })
)

/** Something that happened to a resource, with the resource as the API showed it at that time. */
export const Event = Schema.make<Event>(
  // TypeScript cannot infer the union from an array of schemas.
  Schema.Union(...eventSchemas).annotations({
    identifier: "Event",
    description: "Something that happened to a resource, with the resource as it was right after."
  }).ast
)
