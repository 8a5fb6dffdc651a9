import { Effect, Option } from "effect"
import { etagOf } from "../../domain/Etag.ts"
import type { Integration } from "../../domain/integrations/Integration.ts"
import { defaultOverlapHours } from "../../domain/integrations/SecretRotation.ts"
import { Principal } from "../../domain/tenancy/RequestContext.ts"
import { Authorizations } from "../../layers/integrations/authorization/Authorizations.ts"
import { TokenRevocation } from "../../layers/integrations/authorization/TokenRevocation.ts"
import { Integrations } from "../../layers/integrations/Integrations.ts"
import { Subscriptions } from "../../layers/integrations/Subscriptions.ts"
import { JiraWebhookRemoval } from "../../layers/trackers/jira/JiraWebhookRemoval.ts"
import { handleGroup } from "../server/Handlers.ts"
import { authorizationPage, authorizationPageHeaders } from "../server/pages/AuthorizationPage.ts"
import { HandlerResult, HtmlPage } from "../server/response/HandlerResult.ts"
import { listPage } from "../server/response/Paging.ts"
import { IntegrationsApi } from "./IntegrationsApi.ts"

const dependencies = Effect.all({
  authorizations: Authorizations,
  webhookRemoval: JiraWebhookRemoval,
  tokenRevocation: TokenRevocation,
  integrations: Integrations,
  subscriptions: Subscriptions
})

interface CreatedIntegration {
  readonly integration: Integration
  readonly secret?: string | undefined
  readonly webhookUrl?: string | undefined
}

/** Adds the secret to the body. The ETag covers the integration without it. */
const withSecret = ({ integration, secret, webhookUrl }: CreatedIntegration) =>
  new HandlerResult(
    {
      ...integration,
      ...(secret === undefined ? {} : { secret }),
      ...(webhookUrl === undefined ? {} : { webhookUrl })
    },
    { headers: { etag: etagOf(integration) } }
  )

/** The caller of the OAuth callback, if any: a browser that the provider redirects has no bearer token. */
const optionalPrincipal = Effect.map(Effect.serviceOption(Principal), Option.getOrUndefined)

export const integrations = handleGroup(IntegrationsApi, dependencies, (services) => {
  const { authorizations, webhookRemoval, tokenRevocation, integrations, subscriptions } = services
  return {
    list: ({ query }) => listPage(query, integrations.page),
    create: ({ payload }) => Effect.map(integrations.create(payload), withSecret),
    get: ({ path }) => integrations.get(path.integrationId),
    patch: ({ path, payload }) => integrations.patch(path.integrationId, payload),
    remove: ({ path }) =>
      webhookRemoval.deleteThenRemoveWebhooks(
        path.integrationId,
        tokenRevocation.removeIntegration(path.integrationId)
      ),
    pause: ({ path }) => integrations.pause(path.integrationId),
    resume: ({ path }) => integrations.resume(path.integrationId),
    ping: ({ path }) => integrations.ping(path.integrationId),
    rotateSecret: ({ path, payload: { overlapHours = defaultOverlapHours } }) =>
      Effect.map(integrations.rotateSecret(path.integrationId, overlapHours), withSecret),
    authorize: ({ path, payload }) => authorizations.begin(path.integrationId, payload.origin),
    callback: ({ query }) =>
      Effect.map(
        Effect.flatMap(optionalPrincipal, (principal) => authorizations.complete(query, principal)),
        (outcome) => new HandlerResult(new HtmlPage(authorizationPage(outcome)), { headers: authorizationPageHeaders })
      ),
    confirm: ({ path, payload }) => authorizations.confirm(path.integrationId, payload.confirmation),
    listSubscriptions: ({ path, query }) => listPage(query, (window) => subscriptions.page(path.integrationId, window)),
    subscribe: ({ path, payload }) => subscriptions.add(path.integrationId, payload),
    getSubscription: ({ path }) => subscriptions.get(path),
    unsubscribe: ({ path }) => subscriptions.remove(path)
  }
})
