import { Effect, Layer, Option } from "effect"
import { etagOf } from "../../../domain/Etag.ts"
import type { Integration } from "../../../domain/integrations/Integration.ts"
import { usualOverlapHours } from "../../../domain/integrations/SecretRotation.ts"
import { Principal } from "../../../domain/tenancy/Caller.ts"
import { Authorizations } from "../../../layers/integrations/authorization/Authorizations.ts"
import { GivingBack } from "../../../layers/integrations/authorization/GivingBack.ts"
import { Integrations } from "../../../layers/integrations/Integrations.ts"
import { TrackerFarewell } from "../../../layers/integrations/jiraWebhooks/Farewell.ts"
import { Subscriptions } from "../../../layers/integrations/Subscriptions.ts"
import { IntegrationsApi } from "../../api/groups/integrations/Integrations.ts"
import { handle } from "../../server/Handlers.ts"
import { authorizationPage, pageHeaders } from "../../server/pages/Authorization.ts"
import { paged } from "../../server/response/Paging.ts"
import { Page, Reply } from "../../server/response/Reply.ts"

const dependencies = Effect.all({
  authorizations: Authorizations,
  farewell: TrackerFarewell,
  givingBack: GivingBack,
  integrations: Integrations,
  subscriptions: Subscriptions
}).pipe(
  Effect.provide(
    Layer.mergeAll(
      Authorizations.Default,
      TrackerFarewell.Default,
      GivingBack.Default,
      Integrations.Default,
      Subscriptions.Default
    )
  )
)

interface CreatedIntegration {
  readonly integration: Integration
  readonly secret?: string | undefined
  readonly webhookUrl?: string | undefined
}

/** Adds the secret to the body. The ETag covers the integration without it. */
const withSecret = ({ integration, secret, webhookUrl }: CreatedIntegration) =>
  new Reply(
    {
      ...integration,
      ...(secret === undefined ? {} : { secret }),
      ...(webhookUrl === undefined ? {} : { webhookUrl })
    },
    { headers: { etag: etagOf(integration) } }
  )

/** The caller of the OAuth callback, if any: a browser that the provider redirects has no bearer token. */
const optionalPrincipal = Effect.map(Effect.serviceOption(Principal), Option.getOrUndefined)

export const integrations = handle(IntegrationsApi, dependencies, (services) => {
  const { authorizations, farewell, givingBack, integrations, subscriptions } = services
  return {
    list: ({ query }) => paged(query, integrations.page),
    create: ({ payload }) => Effect.map(integrations.create(payload), withSecret),
    get: ({ path }) => integrations.get(path.integrationId),
    patch: ({ path, payload }) => integrations.patch(path.integrationId, payload),
    remove: ({ path }) => farewell.after(path.integrationId, givingBack.remove(path.integrationId)),
    pause: ({ path }) => integrations.pause(path.integrationId),
    resume: ({ path }) => integrations.resume(path.integrationId),
    ping: ({ path }) => integrations.ping(path.integrationId),
    rotateSecret: ({ path, payload: { overlapHours = usualOverlapHours } }) =>
      Effect.map(integrations.rotateSecret(path.integrationId, overlapHours), withSecret),
    authorize: ({ path, payload }) => authorizations.begin(path.integrationId, payload.origin),
    callback: ({ query }) =>
      Effect.map(
        Effect.flatMap(optionalPrincipal, (principal) => authorizations.finish(query, principal)),
        (outcome) => new Reply(new Page(authorizationPage(outcome)), { headers: pageHeaders })
      ),
    confirm: ({ path, payload }) => authorizations.confirm(path.integrationId, payload.confirmation),
    listSubscriptions: ({ path, query }) => paged(query, (window) => subscriptions.page(path.integrationId, window)),
    subscribe: ({ path, payload }) => subscriptions.add(path.integrationId, payload),
    getSubscription: ({ path }) => subscriptions.get(path),
    unsubscribe: ({ path }) => subscriptions.remove(path)
  }
})
