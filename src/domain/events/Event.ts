import { Schema } from "effect"
import { ClientId } from "../contracting/Client.ts"
import { id } from "../Ids.ts"
import { integer, optional, Timestamp } from "../Schemas.ts"
import { TenantId } from "../tenancy/Tenant.ts"
import { type EventType, eventTypes } from "./EventCatalogue.ts"

export const EventId = id("evt", "event")

const makeFields = <T extends Schema.Schema.Any, D extends Schema.Schema.AnyNoContext>(type: T, data: D) => ({
  id: EventId,
  type,
  timestamp: Timestamp,
  tenant: TenantId,
  client: optional(ClientId),
  /** Counts the events of one resource, so that a consumer can detect a missing event. */
  sequence: integer(1, Number.MAX_SAFE_INTEGER),
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
  Schema.Struct(makeFields(Schema.Literal(type), schema)).annotations({ identifier: eventSchemaName(type) })
)

/** Something that happened to a resource, with the resource as the API showed it at that time. */
export const Event = Schema.make<Event>(
  // TypeScript cannot infer the union from an array of schemas.
  Schema.Union(...eventSchemas).annotations({ identifier: "Event" }).ast
)
