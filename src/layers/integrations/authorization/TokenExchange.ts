import { Data, Effect } from "effect"
import { type AuthorizationErrorCode, authorizationErrorMessages } from "../../../domain/integrations/Authorization.ts"
import type { IntegrationConfig } from "../../../domain/integrations/Integration.ts"
import { Settings } from "../../infra/config/Settings.ts"
import { listJiraSites, selectJiraSite } from "../../infra/jira/JiraSites.ts"
import { type OAuthApp, OAuthApps } from "../../infra/oauth/OAuthApps.ts"
import { exchangeAuthorizationCode, type TokenSet } from "../../infra/oauth/TokenEndpoint.ts"
import { withSpans } from "../../infra/telemetry/UseCaseSpans.ts"
import type { OAuthState } from "./OAuthStates.ts"
import type { OAuthGrant } from "./PendingGrants.ts"

/** A failed authorization: `errorCode` goes to the callback page, `reason` into the status of the integration. */
export class AuthorizationFailed extends Data.TaggedError("AuthorizationFailed")<{
  readonly errorCode: AuthorizationErrorCode
  readonly reason: string
}> {}

export const authorizationFailed = (
  errorCode: AuthorizationErrorCode,
  reason: string = authorizationErrorMessages[errorCode]
) => new AuthorizationFailed({ errorCode, reason })

/** Requires a refresh token: without one the access ends within the hour. */
const isSufficient = ({ scopes }: OAuthApp, granted: TokenSet) => {
  const grantedScopes = new Set(granted.scopes?.split(/[\s,]+/) ?? scopes)
  return scopes.every((scope) => grantedScopes.has(scope)) && granted.refreshToken !== undefined
}

/** Exchanges an authorization code for a grant. */
export class TokenExchange extends Effect.Service<TokenExchange>()("layers/TokenExchange", {
  dependencies: [OAuthApps.Default],
  effect: Effect.gen(function* () {
    const { JIRA_API_URL } = yield* Settings
    const apps = yield* OAuthApps

    const resolveSite = (granted: TokenSet, { siteId }: IntegrationConfig) =>
      Effect.flatMap(listJiraSites(JIRA_API_URL, granted.accessToken), (sites) => selectJiraSite(sites, siteId)).pipe(
        Effect.catchTag("NoJiraSite", ({ errorCode, reason }) => Effect.fail(authorizationFailed(errorCode, reason)))
      )

    const exchangeCode = Effect.fnUntraced(function* (
      { provider, verifier }: OAuthState,
      config: IntegrationConfig,
      code: string
    ) {
      const app = apps.of(provider)
      const granted = yield* exchangeAuthorizationCode(app, code, verifier)
      if (!isSufficient(app, granted)) return yield* Effect.fail(authorizationFailed("insufficient_scope"))
      if (provider !== "JIRA") return granted satisfies OAuthGrant
      const site = yield* resolveSite(granted, config)
      return { ...granted, siteId: site.id, siteUrl: site.url } satisfies OAuthGrant
    })

    return {
      exchangeCode: (
        oauthState: OAuthState,
        config: IntegrationConfig,
        code: string
      ): Effect.Effect<OAuthGrant, AuthorizationFailed> =>
        exchangeCode(oauthState, config, code).pipe(
          Effect.catchTags({
            ProviderUnavailable: () => Effect.fail(authorizationFailed("provider_unavailable")),
            TokenRequestRejected: () => Effect.fail(authorizationFailed("provider_error"))
          })
        )
    }
  }).pipe(withSpans("TokenExchange"))
}) {}
