import { Data, Effect } from "effect"
import { type AuthorizationFault, authorizationFaults } from "../../../domain/integrations/Authorization.ts"
import type { Config } from "../../../domain/integrations/Integration.ts"
import { Settings } from "../../config/Settings.ts"
import { type App, OAuthApps } from "../../oauth/Apps.ts"
import { chooseSite, reachableSites } from "../../oauth/Sites.ts"
import { exchange, type Granted } from "../../oauth/TokenEndpoint.ts"
import type { Begun } from "./OAuthStates.ts"
import type { Grant } from "./PendingGrants.ts"

/** An authorization that came to nothing: what the page is told, and what is written down with the integration. */
export class Fruitless extends Data.TaggedError("Fruitless")<{
  readonly fault: AuthorizationFault
  readonly reason: string
}> {}

export const fruitless = (fault: AuthorizationFault, reason: string = authorizationFaults[fault]) =>
  new Fruitless({ fault, reason })

/** Without a refresh token all would be over within the hour. */
const isWhole = ({ scopes }: App, granted: Granted) => {
  const given = new Set(granted.scopes?.split(/[\s,]+/) ?? scopes)
  return scopes.every((scope) => given.has(scope)) && granted.refreshToken !== undefined
}

/** Turns the code somebody brought back into a grant we can work with. */
export class Exchanging extends Effect.Service<Exchanging>()("layers/Exchanging", {
  dependencies: [OAuthApps.Default],
  effect: Effect.gen(function* () {
    const { JIRA_API_URL } = yield* Settings
    const apps = yield* OAuthApps

    const siteOf = (granted: Granted, { siteId }: Config) =>
      Effect.flatMap(reachableSites(JIRA_API_URL, granted.accessToken), (sites) => chooseSite(sites, siteId)).pipe(
        Effect.catchTag("NoSite", ({ fault, reason }) => Effect.fail(fruitless(fault, reason)))
      )

    const grant = Effect.fnUntraced(function* ({ provider, verifier }: Begun, config: Config, code: string) {
      const app = apps.of(provider)
      const granted = yield* exchange(app, code, verifier)
      if (!isWhole(app, granted)) return yield* Effect.fail(fruitless("insufficient_scope"))
      if (provider !== "JIRA") return granted satisfies Grant
      const site = yield* siteOf(granted, config)
      return { ...granted, siteId: site.id, siteUrl: site.url } satisfies Grant
    })

    return {
      grant: (begun: Begun, config: Config, code: string): Effect.Effect<Grant, Fruitless> =>
        grant(begun, config, code).pipe(
          Effect.catchTags({
            ProviderAway: () => Effect.fail(fruitless("provider_unavailable")),
            Refused: () => Effect.fail(fruitless("provider_error"))
          })
        )
    }
  })
}) {}
