import { type Cause, Effect } from "effect"
import { CurrentTenant } from "../../../domain/tenancy/Caller.ts"
import type { TenantId } from "../../../domain/tenancy/Tenant.ts"
import { Settings } from "../../config/Settings.ts"
import { trackerOver } from "../../jira/Tracker.ts"
import { withoutSlash } from "../../providerHttp/Calls.ts"
import { Grants } from "../authorization/Grants.ts"
import { openSession } from "../authorization/Session.ts"
import { TrackerWebhooks } from "./TrackerWebhooks.ts"

/** How long whoever deletes an integration waits at the most, and how long the tracker is tried behind his back. */
const patience = "2 seconds"
const longPatience = "10 seconds"

/** Tells trackers that nobody listens any more. */
export class TrackerFarewell extends Effect.Service<TrackerFarewell>()("layers/TrackerFarewell", {
  dependencies: [TrackerWebhooks.Default, Grants.Default],
  effect: Effect.gen(function* () {
    const { JIRA_API_URL } = yield* Settings
    const webhooks = yield* TrackerWebhooks
    const grants = yield* Grants

    /** What is registered and the way there, which is not to be found any more once the integration is gone. */
    const registeredOf = Effect.fnUntraced(function* (tenant: TenantId, integration: string) {
      const kept = yield* webhooks.keptOf({ tenant, integration })
      const [first] = kept
      if (first === undefined) return undefined
      const session = yield* Effect.provideService(openSession(tenant, integration), Grants, grants)
      const ids = kept.filter(({ site }) => site === first.site).map(({ webhookId }) => webhookId)
      return { ids, tracker: trackerOver(session, withoutSlash(JIRA_API_URL), first.site) }
    })

    const untold = (cause: Cause.Cause<unknown>) =>
      Effect.logInfo("A tracker is not told that nobody listens any more", cause)

    return {
      /** Removes what is registered for an integration that is there yet, if that can be done. */
      before: (tenant: TenantId, integration: string) =>
        registeredOf(tenant, integration).pipe(
          Effect.flatMap((registered) =>
            registered === undefined ? Effect.void : registered.tracker.remove(registered.ids)
          ),
          Effect.timeout(longPatience),
          Effect.catchAllCause(untold)
        ),

      /** Removes an integration by `remove`, and then what is registered for it, if that can be done. */
      after: <A, E, R>(integration: string, remove: Effect.Effect<A, E, R>) =>
        Effect.gen(function* () {
          const registered = yield* registeredOf(yield* CurrentTenant, integration).pipe(
            Effect.timeout(patience),
            Effect.catchAllCause((cause) => Effect.as(untold(cause), undefined))
          )
          const removed = yield* remove
          if (registered !== undefined) {
            const leaving = Effect.timeout(registered.tracker.remove(registered.ids), longPatience)
            yield* Effect.forkDaemon(Effect.ignoreLogged(leaving))
          }
          return removed
        })
    }
  })
}) {}
