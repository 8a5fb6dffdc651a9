import { Effect } from "effect"
import { ClientId } from "../contracting/Client.ts"
import { breaks } from "../Errors.ts"
import { EventPattern } from "../events/Catalogue.ts"
import { requireQuota } from "../Quotas.ts"
import { body, optional, text } from "../Schemas.ts"
import type { Provider } from "./Provider.ts"
import type { Subscription } from "./Subscription.ts"

export const CreateSubscription = body({
  eventType: EventPattern,
  clientId: optional(ClientId),
  scopeKey: optional(text(1, 100).annotations({ description: "Follows from clientId; one that is given must agree" }))
}).annotations({ identifier: "CreateSubscription" })
export type CreateSubscription = typeof CreateSubscription.Type

/** What a subscription is about: the whole tenant, or one client. */
const scopeOf = (clientId: string | undefined) => (clientId === undefined ? "tenant" : `client:${clientId}`)

/** The scope of what is to be subscribed to, unless its maker means another. */
export const agreedScope = ({ clientId, scopeKey }: CreateSubscription) => {
  const scope = scopeOf(clientId)
  return scopeKey === undefined || scopeKey === scope
    ? Effect.succeed(scope)
    : Effect.fail(breaks("scopeKey", "enum", `must be ${scope}, as clientId says, or be left out`))
}

/** Fails for events that a provider can do nothing with. */
export const canTell = (provider: Provider, eventType: string) =>
  provider === "GOOGLE_DRIVE" && eventType !== "invoice.finalized"
    ? Effect.fail(breaks("eventType", "enum", "must be invoice.finalized: only invoices become files in a drive"))
    : Effect.void

type Subject = Omit<Subscription, "id">

/** Fails when an integration cannot subscribe to this besides what it is subscribed to. */
export const maySubscribe = (present: ReadonlyArray<Subscription>, { eventType, scopeKey }: Subject, max: number) => {
  if (present.some((one) => one.eventType === eventType && one.scopeKey === scopeKey)) {
    return Effect.fail(breaks("eventType", "unique", `is subscribed to already for ${scopeKey}`))
  }
  return requireQuota("subscriptions", { max, used: present.length, field: "eventType" })
}
