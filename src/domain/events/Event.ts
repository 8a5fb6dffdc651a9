import { Schema } from "effect"
import { ClientId } from "../contracting/Client.ts"
import { id } from "../Ids.ts"
import { integer, optional, Timestamp } from "../Schemas.ts"
import { TenantId } from "../tenancy/Tenant.ts"
import { type EventType, eventTypes } from "./Catalogue.ts"

export const EventId = id("evt", "event")

const fieldsOf = <T extends Schema.Schema.Any, D extends Schema.Schema.AnyNoContext>(type: T, data: D) => ({
  id: EventId,
  type,
  timestamp: Timestamp,
  tenant: TenantId,
  client: optional(ClientId),
  /** Counts the events of one resource, so that a reader sees when one is missing. */
  sequence: integer(1, Number.MAX_SAFE_INTEGER),
  data
})

/** An event of any type. */
const AnyEvent = Schema.Struct(fieldsOf(Schema.String, Schema.Unknown))

export const eventFields = AnyEvent.fields

export interface Event extends Schema.Struct.Type<typeof eventFields> {
  readonly type: EventType
}

/** What the schema of an event type is called. */
export const schemaNameOf = (type: EventType) => `Event.${type}`

/** The events of each type. */
export const eventSchemas = eventTypes.map(({ shown, type }) =>
  Schema.Struct(fieldsOf(Schema.Literal(type), shown)).annotations({ identifier: schemaNameOf(type) })
)

/** What happened to a resource, and the resource as it was shown at that moment. */
export const Event = Schema.make<Event>(
  // A list of schemas cannot tell its sum's type.
  Schema.Union(...eventSchemas).annotations({ identifier: "Event" }).ast
)
