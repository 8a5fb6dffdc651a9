import { Schema } from "effect"
import { ClientId } from "../contracting/Client.ts"
import { exampleId, id } from "../Ids.ts"
import { field, optional } from "../Schemas.ts"

export const SubscriptionId = id("sub", "subscription")

/** Subscribes an integration to the events of one type or resource, in the whole tenant or of one client. */
export const Subscription = Schema.Struct({
  id: SubscriptionId,
  eventType: field(Schema.String, "The event type, or `<resource>.*` for all types of a resource.", "invoice.*"),
  scopeKey: field(
    Schema.String,
    "`tenant` for the whole tenant, or `client:` with an identifier for one client.",
    `client:${exampleId("clnt")}`
  ),
  clientId: optional(field(ClientId, "The client whose events it selects. Left out for the whole tenant."))
}).annotations({ identifier: "Subscription", description: "Which events an integration gets." })
export type Subscription = typeof Subscription.Type
