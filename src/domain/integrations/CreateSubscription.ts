import { Either } from "effect"
import { ClientId } from "../contracting/Client.ts"
import { fieldError } from "../Errors.ts"
import { EventPattern } from "../events/EventCatalogue.ts"
import { requireQuota } from "../quotas/Quotas.ts"
import { describeValue } from "../RejectedValue.ts"
import { body, field, optional, text } from "../Schemas.ts"
import type { Provider } from "./Provider.ts"
import type { Subscription } from "./Subscription.ts"

export const CreateSubscription = body({
  eventType: EventPattern,
  clientId: optional(field(ClientId, "Only events of this client. Without it, events of the whole tenant.")),
  scopeKey: optional(
    field(text(1, 100), "Can be left out: it follows from `clientId`, and a different value is rejected.")
  )
}).annotations({ identifier: "CreateSubscription", description: "The events that an integration is to get." })
export type CreateSubscription = typeof CreateSubscription.Type

/** The scope key of a subscription: the whole tenant, or subscription client. */
const scopeOf = (clientId: string | undefined) => (clientId === undefined ? "tenant" : `client:${clientId}`)

/** Derives the scope key of a request. Fails when the request contains a different subscription. */
export const resolveScopeKey = ({ clientId, scopeKey }: CreateSubscription) => {
  const scope = scopeOf(clientId)
  return scopeKey === undefined || scopeKey === scope
    ? Either.right(scope)
    : Either.left(fieldError("scopeKey", "enum", `must be ${scope} or be omitted, but is ${describeValue(scopeKey)}`))
}

/** The event types of providers that do not support all. */
const supportedEvents: Partial<Record<Provider, ReadonlyArray<string>>> = {
  GOOGLE_DRIVE: ["invoice.finalized"],
  EMAIL: ["invoice.finalized", "credit_note.finalized"]
}

/** Fails for event types that the provider does not support. */
export const requireSupportedEvent = (provider: Provider, eventType: string) => {
  const supported = supportedEvents[provider]
  return supported === undefined || supported.includes(eventType)
    ? Either.void
    : Either.left(
        fieldError("eventType", "enum", `must be ${supported.join(" or ")} for ${provider}, but is ${eventType}`)
      )
}

type NewSubscription = Omit<Subscription, "id">

/** Fails for a duplicate subscription, and when the quota of subscriptions is exhausted. */
export const requireNewSubscription = (
  existing: ReadonlyArray<Subscription>,
  { eventType, scopeKey }: NewSubscription,
  max: number
) => {
  if (existing.some((subscription) => subscription.eventType === eventType && subscription.scopeKey === scopeKey)) {
    return Either.left(fieldError("eventType", "unique", `is already subscribed for ${scopeKey}`))
  }
  return requireQuota("subscriptions", { max, used: existing.length, field: "eventType" })
}
