import { Data, Effect } from "effect"
import { type AuthorizationFault, authorizationFaults } from "../../../domain/integrations/Authorization.ts"
import type { Config } from "../../../domain/integrations/Integration.ts"
import { Settings } from "../../config/Settings.ts"
import { type App, OAuthApps } from "../../oauth/Apps.ts"
import { chooseSite, reachableSites } from "../../oauth/Sites.ts"
import { exchange, type Granted } from "../../oauth/TokenEndpoint.ts"
import type { Begun } from "./OAuthStates.ts"
import type { Grant } from "./PendingGrants.ts"

/** A failed authorization: `fault` goes to the callback page, `reason` into the status of the integration. */
export class Fruitless extends Data.TaggedError("AuthorizationFailed")<{
  readonly fault: AuthorizationFault
  readonly reason: string
}> {}

export const fruitless = (fault: AuthorizationFault, reason: string = authorizationFaults[fault]) =>
  new Fruitless({ fault, reason })

/** Requires a refresh token: without one the access ends within the hour. */
const isSufficient = ({ scopes }: App, granted: Granted) => {
  const grantedScopes = new Set(granted.scopes?.split(/[\s,]+/) ?? scopes)
  return scopes.every((scope) => grantedScopes.has(scope)) && granted.refreshToken !== undefined
}

/** Exchanges an authorization code for a grant. */
export class Exchanging extends Effect.Service<Exchanging>()("layers/TokenExchange", {
  dependencies: [OAuthApps.Default],
  effect: Effect.gen(function* () {
    const { JIRA_API_URL } = yield* Settings
    const apps = yield* OAuthApps

    const resolveSite = (granted: Granted, { siteId }: Config) =>
      Effect.flatMap(reachableSites(JIRA_API_URL, granted.accessToken), (sites) => chooseSite(sites, siteId)).pipe(
        Effect.catchTag("NoSite", ({ fault, reason }) => Effect.fail(fruitless(fault, reason)))
      )

    const exchangeCode = Effect.fnUntraced(function* ({ provider, verifier }: Begun, config: Config, code: string) {
      const app = apps.of(provider)
      const granted = yield* exchange(app, code, verifier)
      if (!isSufficient(app, granted)) return yield* Effect.fail(fruitless("insufficient_scope"))
      if (provider !== "JIRA") return granted satisfies Grant
      const site = yield* resolveSite(granted, config)
      return { ...granted, siteId: site.id, siteUrl: site.url } satisfies Grant
    })

    return {
      grant: (oauthState: Begun, config: Config, code: string): Effect.Effect<Grant, Fruitless> =>
        exchangeCode(oauthState, config, code).pipe(
          Effect.catchTags({
            ProviderAway: () => Effect.fail(fruitless("provider_unavailable")),
            Refused: () => Effect.fail(fruitless("provider_error"))
          })
        )
    }
  })
}) {}
