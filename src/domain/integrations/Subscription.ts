import { Schema } from "effect"
import { ClientId } from "../contracting/Client.ts"
import { id } from "../Ids.ts"
import { optional } from "../Schemas.ts"

export const SubscriptionId = id("sub", "subscription")

/** Subscribes an integration to the events of one type or resource, in the whole tenant or of one client. */
export const Subscription = Schema.Struct({
  id: SubscriptionId,
  eventType: Schema.String,
  scopeKey: Schema.String,
  clientId: optional(ClientId)
}).annotations({ identifier: "Subscription" })
export type Subscription = typeof Subscription.Type
