import * as SqlClient from "@effect/sql/SqlClient"
import { Data, Effect, Fiber } from "effect"
import { isOAuth, type OAuthProvider } from "../../../domain/integrations/Authorization.ts"
import { CurrentTenant } from "../../../domain/tenancy/Caller.ts"
import type { TenantId } from "../../../domain/tenancy/Tenant.ts"
import { OAuthApps } from "../../oauth/Apps.ts"
import { ProviderAway } from "../../oauth/Ask.ts"
import { GrantLost } from "../../oauth/AuthorizedSession.ts"
import { refresh } from "../../oauth/TokenEndpoint.ts"
import { atomically } from "../../postgres/connection/Transaction.ts"
import { hashOf } from "../../secrets/OneTime.ts"
import { Integrations } from "../Integrations.ts"
import { AuthorizationMoves } from "./AuthorizationMoves.ts"
import { GrantRows, type Held } from "./GrantRows.ts"

/** Access to the provider's API. */
export interface Access {
  readonly accessToken: string
  readonly siteId?: string
  readonly siteUrl?: string
}

const accessOf = ({ accessToken, siteId, siteUrl }: Held): Access => ({
  accessToken,
  ...(siteId === undefined ? {} : { siteId }),
  ...(siteUrl === undefined ? {} : { siteUrl })
})

const providerNames = { JIRA: "Jira", GOOGLE_DRIVE: "Google Drive" } as const

const withdrawnReason = (provider: OAuthProvider) =>
  `${providerNames[provider]} does not accept the authorization any more: it was withdrawn or has expired. Authorize again.`

const notAuthorized = new GrantLost({ reason: "The integration is not authorized" })

/** Single-flight: concurrent calls with the same key share one run. The run continues when its callers are interrupted. */
const makeSingleFlight = () => {
  const flights = new Map<string, Fiber.RuntimeFiber<Access, GrantLost | ProviderAway>>()
  return (key: string, work: Effect.Effect<Access, GrantLost | ProviderAway>) =>
    Effect.suspend(() => {
      const running = flights.get(key)
      if (running !== undefined) return Fiber.join(running)
      return Effect.flatMap(Effect.forkDaemon(work), (fiber) => {
        flights.set(key, fiber)
        fiber.addObserver(() => flights.get(key) === fiber && flights.delete(key))
        return Fiber.join(fiber)
      })
    })
}

/** The provider rejected the tokens of this generation. */
class TokensRejected extends Data.TaggedError("TokensRejected")<{ readonly generation: number }> {}

/** Valid access tokens for workers. Concurrent callers share one renewal. */
export class Grants extends Effect.Service<Grants>()("layers/Grants", {
  dependencies: [GrantRows.Default, AuthorizationMoves.Default, Integrations.Default, OAuthApps.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const store = yield* GrantRows
    const integrations = yield* Integrations
    const transitions = yield* AuthorizationMoves
    const apps = yield* OAuthApps
    const singleFlight = makeSingleFlight()

    const providerOf = (tenant: TenantId, integration: string) =>
      integrations.get(integration).pipe(
        Effect.provideService(CurrentTenant, tenant),
        Effect.catchTag("NotFound", () => Effect.fail(notAuthorized)),
        Effect.flatMap(({ provider }) => (isOAuth(provider) ? Effect.succeed(provider) : Effect.fail(notAuthorized)))
      )

    /** Commits the new tokens before their first use: the provider may have invalidated the old ones. */
    const renewLocked = (
      tenant: TenantId,
      integration: string,
      provider: OAuthProvider,
      isValid: (stored: Held) => boolean
    ) =>
      Effect.gen(function* () {
        const stored = yield* store.held(tenant, integration)
        if (stored === undefined) return yield* Effect.fail(notAuthorized)
        const { generation, refreshToken } = stored
        if (isValid(stored)) return accessOf(stored)
        if (refreshToken === undefined) return yield* Effect.fail(new TokensRejected({ generation }))
        const granted = yield* Effect.catchTag(refresh(apps.of(provider), refreshToken), "Refused", () =>
          Effect.fail(new TokensRejected({ generation }))
        )
        // A provider without rotation sends no new refresh token.
        yield* store.put(tenant, integration, { ...accessOf(stored), refreshToken, ...granted }, stored)
        return accessOf({ ...stored, accessToken: granted.accessToken })
      }).pipe(atomically(sql))

    /** Call it without a lock on the tokens: an authorization locks the integration first and its tokens second. */
    const lose = Effect.fnUntraced(function* (
      tenant: TenantId,
      integration: string,
      provider: OAuthProvider,
      generation: number
    ) {
      const reason = withdrawnReason(provider)
      yield* transitions.lose(tenant, integration, reason, store.drop(tenant, integration, generation))
      const isLost = (yield* store.find(tenant, integration)) === undefined
      return yield* Effect.fail(
        isLost ? new GrantLost({ reason }) : new ProviderAway({ what: "was authorized anew meanwhile" })
      )
    })

    const renewAccess = Effect.fnUntraced(function* (
      tenant: TenantId,
      integration: string,
      isValid: (stored: Held) => boolean
    ) {
      const provider = yield* providerOf(tenant, integration)
      return yield* Effect.catchTag(
        renewLocked(tenant, integration, provider, isValid),
        "TokensRejected",
        ({ generation }) => lose(tenant, integration, provider, generation)
      )
    })

    return {
      /** Access that is valid for at least another minute. */
      accessOf: (tenant: TenantId, integration: string): Effect.Effect<Access, GrantLost | ProviderAway> =>
        Effect.flatMap(store.find(tenant, integration), (stored) => {
          if (stored === undefined) return Effect.fail(notAuthorized)
          if (stored.isFresh) return Effect.succeed(accessOf(stored))
          return singleFlight(
            `${tenant} ${integration}`,
            renewAccess(tenant, integration, ({ isFresh }) => isFresh)
          )
        }),

      /** Renews the access after the provider rejected `usedToken`, unless another caller has renewed it already. */
      renew: (
        tenant: TenantId,
        integration: string,
        usedToken: string
      ): Effect.Effect<Access, GrantLost | ProviderAway> =>
        singleFlight(
          `${tenant} ${integration} ${hashOf(usedToken).toString("hex")}`,
          renewAccess(tenant, integration, ({ accessToken, isFresh }) => isFresh && accessToken !== usedToken)
        )
    }
  })
}) {}
