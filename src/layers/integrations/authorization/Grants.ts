import * as SqlClient from "@effect/sql/SqlClient"
import { Data, Effect } from "effect"
import { isOAuthProvider, type OAuthProvider } from "../../../domain/integrations/Authorization.ts"
import { CurrentTenant } from "../../../domain/tenancy/RequestContext.ts"
import type { TenantId } from "../../../domain/tenancy/Tenant.ts"
import { makeSingleFlight } from "../../infra/concurrency/SingleFlight.ts"
import { GrantLost } from "../../infra/oauth/AuthorizedSession.ts"
import { OAuthApps } from "../../infra/oauth/OAuthApps.ts"
import { ProviderUnavailable } from "../../infra/oauth/OAuthRequest.ts"
import { refreshTokens } from "../../infra/oauth/TokenEndpoint.ts"
import { inTransaction } from "../../infra/postgres/connection/Transactions.ts"
import { hashOf } from "../../infra/secrets/OneTimeTokens.ts"
import { withSpans } from "../../infra/telemetry/UseCaseSpans.ts"
import { Integrations } from "../Integrations.ts"
import { AuthorizationTransitions } from "./AuthorizationTransitions.ts"
import { GrantStore, type StoredGrant } from "./GrantStore.ts"

/** Access to the provider's API. */
export interface ProviderAccess {
  readonly accessToken: string
  readonly siteId?: string
  readonly siteUrl?: string
}

const accessOf = ({ accessToken, siteId, siteUrl }: StoredGrant): ProviderAccess => ({
  accessToken,
  ...(siteId === undefined ? {} : { siteId }),
  ...(siteUrl === undefined ? {} : { siteUrl })
})

const providerNames = { JIRA: "Jira", GOOGLE_DRIVE: "Google Drive" } as const

const withdrawnReason = (provider: OAuthProvider) =>
  `${providerNames[provider]} does not accept the authorization any more: it was withdrawn or has expired. Authorize again.`

const notAuthorized = new GrantLost({ reason: "The integration is not authorized" })

/** The provider rejected the tokens of this generation. */
class TokensRejected extends Data.TaggedError("TokensRejected")<{ readonly generation: number }> {}

/** Valid access tokens for workers. Concurrent callers share one renewal. */
export class Grants extends Effect.Service<Grants>()("layers/Grants", {
  dependencies: [GrantStore.Default, AuthorizationTransitions.Default, Integrations.Default, OAuthApps.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const store = yield* GrantStore
    const integrations = yield* Integrations
    const transitions = yield* AuthorizationTransitions
    const apps = yield* OAuthApps
    const singleFlight = makeSingleFlight<ProviderAccess, GrantLost | ProviderUnavailable>()

    const providerOf = (tenant: TenantId, integration: string) =>
      integrations.get(integration).pipe(
        Effect.provideService(CurrentTenant, tenant),
        Effect.catchTag("NotFound", () => Effect.fail(notAuthorized)),
        Effect.flatMap(({ provider }) =>
          isOAuthProvider(provider) ? Effect.succeed(provider) : Effect.fail(notAuthorized)
        )
      )

    /** Commits the new tokens before their first use: the provider may have invalidated the old ones. */
    const renewLocked = (
      tenant: TenantId,
      integration: string,
      provider: OAuthProvider,
      isValid: (stored: StoredGrant) => boolean
    ) =>
      Effect.gen(function* () {
        const stored = yield* store.findForUpdate(tenant, integration)
        if (stored === undefined) return yield* Effect.fail(notAuthorized)
        const { generation, refreshToken } = stored
        if (isValid(stored)) return accessOf(stored)
        if (refreshToken === undefined) return yield* Effect.fail(new TokensRejected({ generation }))
        const granted = yield* Effect.catchTag(
          refreshTokens(apps.of(provider), refreshToken),
          "TokenRequestRejected",
          () => Effect.fail(new TokensRejected({ generation }))
        )
        // A provider without rotation sends no new refresh token.
        yield* store.save(tenant, integration, { ...accessOf(stored), refreshToken, ...granted }, stored)
        return accessOf({ ...stored, accessToken: granted.accessToken })
      }).pipe(inTransaction(sql))

    /** Call it without a lock on the tokens: an authorization locks the integration first and its tokens second. */
    const lose = Effect.fnUntraced(function* (
      tenant: TenantId,
      integration: string,
      provider: OAuthProvider,
      generation: number
    ) {
      const reason = withdrawnReason(provider)
      yield* transitions.lose(tenant, integration, reason, store.remove(tenant, integration, generation))
      const isLost = (yield* store.find(tenant, integration)) === undefined
      return yield* Effect.fail(
        isLost
          ? new GrantLost({ reason })
          : new ProviderUnavailable({ message: "The integration was authorized again meanwhile" })
      )
    })

    /** Uninterruptible: a rotated refresh token that is not stored would end the grant. */
    const renewAccess = Effect.fnUntraced(function* (
      tenant: TenantId,
      integration: string,
      isValid: (stored: StoredGrant) => boolean
    ) {
      const provider = yield* providerOf(tenant, integration)
      return yield* Effect.catchTag(
        renewLocked(tenant, integration, provider, isValid),
        "TokensRejected",
        ({ generation }) => lose(tenant, integration, provider, generation)
      )
    }, Effect.uninterruptible)

    return {
      /** Access that is valid for at least another minute. */
      getAccess: (
        tenant: TenantId,
        integration: string
      ): Effect.Effect<ProviderAccess, GrantLost | ProviderUnavailable> =>
        Effect.flatMap(store.find(tenant, integration), (stored) => {
          if (stored === undefined) return Effect.fail(notAuthorized)
          if (stored.isFresh) return Effect.succeed(accessOf(stored))
          return singleFlight(
            `${tenant} ${integration}`,
            renewAccess(tenant, integration, ({ isFresh }) => isFresh)
          )
        }),

      /** Renews the access after the provider rejected `usedToken`, unless another caller has renewed it already. */
      renewAccess: (
        tenant: TenantId,
        integration: string,
        usedToken: string
      ): Effect.Effect<ProviderAccess, GrantLost | ProviderUnavailable> =>
        singleFlight(
          `${tenant} ${integration} ${hashOf(usedToken).toString("hex")}`,
          renewAccess(tenant, integration, ({ accessToken, isFresh }) => isFresh && accessToken !== usedToken)
        )
    }
  }).pipe(withSpans("Grants"))
}) {}
