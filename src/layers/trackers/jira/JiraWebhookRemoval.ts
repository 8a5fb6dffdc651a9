import { type Cause, Effect } from "effect"
import { CurrentTenant } from "../../../domain/tenancy/RequestContext.ts"
import type { TenantId } from "../../../domain/tenancy/Tenant.ts"
import { Settings } from "../../infra/config/Settings.ts"
import { makeJiraWebhookClient } from "../../infra/jira/JiraWebhookClient.ts"
import { trimTrailingSlashes } from "../../infra/providerHttp/ProviderRequest.ts"
import { withSpans } from "../../infra/telemetry/UseCaseSpans.ts"
import { Grants } from "../../integrations/authorization/Grants.ts"
import { openProviderSession } from "../../integrations/authorization/ProviderSession.ts"
import { JiraWebhooks } from "./JiraWebhooks.ts"

/** Bounds what the API request waits for before it deletes the integration. */
const lookupTimeout = "2 seconds"
/** Timeout of the deregistration at Jira. No API request waits for it. */
const deregistrationTimeout = "10 seconds"

/** Deregisters the Jira webhooks of deleted integrations, best effort: Jira drops them itself after 30 days. */
export class JiraWebhookRemoval extends Effect.Service<JiraWebhookRemoval>()("layers/JiraWebhookRemoval", {
  dependencies: [JiraWebhooks.Default, Grants.Default],
  effect: Effect.gen(function* () {
    const { JIRA_API_URL } = yield* Settings
    const webhooks = yield* JiraWebhooks
    const grants = yield* Grants

    /** Loads the webhook ids and opens a session. Both need the integration, so this runs before its deletion. */
    const loadRegistered = Effect.fnUntraced(function* (tenant: TenantId, integration: string) {
      const registrations = yield* webhooks.listRegistered({ tenant, integration })
      const [first] = registrations
      if (first === undefined) return undefined
      const session = yield* Effect.provideService(openProviderSession(tenant, integration), Grants, grants)
      const ids = registrations.filter(({ site }) => site === first.site).map(({ webhookId }) => webhookId)
      return { ids, client: makeJiraWebhookClient(session, trimTrailingSlashes(JIRA_API_URL), first.site) }
    })

    const logFailure = (cause: Cause.Cause<unknown>) => Effect.logInfo("Jira webhook deregistration failed", cause)

    return {
      /** Deregisters the webhooks of an existing integration. Never fails. */
      removeWebhooks: (tenant: TenantId, integration: string) =>
        loadRegistered(tenant, integration).pipe(
          Effect.flatMap((registered) =>
            registered === undefined ? Effect.void : registered.client.remove(registered.ids)
          ),
          Effect.timeout(deregistrationTimeout),
          Effect.catchAllCause(logFailure)
        ),

      /** Runs `remove`, which deletes the integration, then deregisters its webhooks in the background. */
      deleteThenRemoveWebhooks: <A, E, R>(integration: string, remove: Effect.Effect<A, E, R>) =>
        Effect.gen(function* () {
          const registered = yield* loadRegistered(yield* CurrentTenant, integration).pipe(
            Effect.timeout(lookupTimeout),
            Effect.catchAllCause((cause) => Effect.as(logFailure(cause), undefined))
          )
          const removed = yield* remove
          if (registered !== undefined) {
            const deregistration = Effect.timeout(registered.client.remove(registered.ids), deregistrationTimeout)
            yield* Effect.forkDaemon(Effect.ignoreLogged(deregistration))
          }
          return removed
        })
    }
  }).pipe(withSpans("JiraWebhookRemoval"))
}) {}
