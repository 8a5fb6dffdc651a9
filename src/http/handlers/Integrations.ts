import { Effect, Layer } from "effect"
import { etagOf } from "../../domain/Etag.ts"
import type { Integration } from "../../domain/integrations/Integration.ts"
import { usualOverlapHours } from "../../domain/integrations/SecretRotation.ts"
import { TrackerFarewell } from "../../layers/providers/tracker/Farewell.ts"
import { Integrations } from "../../layers/sql/integrations/Integrations.ts"
import { Subscriptions } from "../../layers/sql/integrations/Subscriptions.ts"
import { IntegrationsApi } from "../api/groups/Integrations.ts"
import { handle } from "../edge/Handlers.ts"
import { paged } from "../edge/response/Paging.ts"
import { Reply } from "../edge/response/Reply.ts"

const needs = Effect.all({ integrations: Integrations, subscriptions: Subscriptions, farewell: TrackerFarewell }).pipe(
  Effect.provide(Layer.mergeAll(Integrations.Default, Subscriptions.Default, TrackerFarewell.Default))
)

interface Made {
  readonly integration: Integration
  readonly secret?: string | undefined
  readonly webhookUrl?: string | undefined
}

/** What is secret is shown beside the integration and is no part of its version. */
const withSecret = ({ integration, secret, webhookUrl }: Made) =>
  new Reply(
    {
      ...integration,
      ...(secret === undefined ? {} : { secret }),
      ...(webhookUrl === undefined ? {} : { webhookUrl })
    },
    { headers: { etag: etagOf(integration) } }
  )

export const integrations = handle(IntegrationsApi, needs, ({ farewell, integrations, subscriptions }) => ({
  list: ({ query }) => paged(query, integrations.page),
  create: ({ payload }) => Effect.map(integrations.create(payload), withSecret),
  get: ({ path }) => integrations.get(path.integrationId),
  patch: ({ path, payload }) => integrations.patch(path.integrationId, payload),
  remove: ({ path }) => farewell.after(path.integrationId, integrations.remove(path.integrationId)),
  pause: ({ path }) => integrations.pause(path.integrationId),
  resume: ({ path }) => integrations.resume(path.integrationId),
  ping: ({ path }) => integrations.ping(path.integrationId),
  rotateSecret: ({ path, payload: { overlapHours = usualOverlapHours } }) =>
    Effect.map(integrations.rotateSecret(path.integrationId, overlapHours), withSecret),
  listSubscriptions: ({ path, query }) => paged(query, (window) => subscriptions.page(path.integrationId, window)),
  subscribe: ({ path, payload }) => subscriptions.add(path.integrationId, payload),
  getSubscription: ({ path }) => subscriptions.get(path),
  unsubscribe: ({ path }) => subscriptions.remove(path)
}))
