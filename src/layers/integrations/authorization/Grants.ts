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

/** What opens the provider's API. */
export interface Access {
  readonly accessToken: string
  readonly siteId?: string
  readonly siteUrl?: string
}

const accessIn = ({ accessToken, siteId, siteUrl }: Held): Access => ({
  accessToken,
  ...(siteId === undefined ? {} : { siteId }),
  ...(siteUrl === undefined ? {} : { siteUrl })
})

const names = { JIRA: "Jira", GOOGLE_DRIVE: "Google Drive" } as const

const withdrawn = (provider: OAuthProvider) =>
  `${names[provider]} does not accept the authorization any more: it was withdrawn or has expired. Authorize again.`

const unauthorized = new GrantLost({ reason: "The integration is not authorized" })

/** Does at once for all who ask what is under way for one of them already. */
const makeTogether = () => {
  const underWay = new Map<string, Fiber.RuntimeFiber<Access, GrantLost | ProviderAway>>()
  return (key: string, work: Effect.Effect<Access, GrantLost | ProviderAway>) =>
    Effect.suspend(() => {
      const joined = underWay.get(key)
      if (joined !== undefined) return Fiber.join(joined)
      return Effect.flatMap(Effect.forkDaemon(work), (fiber) => {
        underWay.set(key, fiber)
        fiber.addObserver(() => underWay.get(key) === fiber && underWay.delete(key))
        return Fiber.join(fiber)
      })
    })
}

/** The tokens of this generation are good for nothing any more. */
class Spent extends Data.TaggedError("Spent")<{ readonly generation: number }> {}

/** For workers: access tokens that work, replaced in time, by one of all that ask at once. */
export class Grants extends Effect.Service<Grants>()("layers/Grants", {
  dependencies: [GrantRows.Default, AuthorizationMoves.Default, Integrations.Default, OAuthApps.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* GrantRows
    const integrations = yield* Integrations
    const moves = yield* AuthorizationMoves
    const apps = yield* OAuthApps
    const together = makeTogether()

    const providerOf = (tenant: TenantId, integration: string) =>
      integrations.get(integration).pipe(
        Effect.provideService(CurrentTenant, tenant),
        Effect.catchTag("NotFound", () => Effect.fail(unauthorized)),
        Effect.flatMap(({ provider }) => (isOAuth(provider) ? Effect.succeed(provider) : Effect.fail(unauthorized)))
      )

    /** The new tokens are written down before anybody uses them: the provider may know the old ones no longer. */
    const replaced = (
      tenant: TenantId,
      integration: string,
      provider: OAuthProvider,
      isGood: (held: Held) => boolean
    ) =>
      Effect.gen(function* () {
        const held = yield* rows.held(tenant, integration)
        if (held === undefined) return yield* Effect.fail(unauthorized)
        const { generation, refreshToken } = held
        if (isGood(held)) return accessIn(held)
        if (refreshToken === undefined) return yield* Effect.fail(new Spent({ generation }))
        const granted = yield* Effect.catchTag(refresh(apps.of(provider), refreshToken), "Refused", () =>
          Effect.fail(new Spent({ generation }))
        )
        // A provider that does not rotate sends no new refresh token.
        yield* rows.put(tenant, integration, { ...accessIn(held), refreshToken, ...granted }, held)
        return accessIn({ ...held, accessToken: granted.accessToken })
      }).pipe(atomically(sql))

    /** Only after the tokens were let go of: who authorizes again holds the integration first and its tokens then. */
    const lose = Effect.fnUntraced(function* (
      tenant: TenantId,
      integration: string,
      provider: OAuthProvider,
      generation: number
    ) {
      const reason = withdrawn(provider)
      yield* moves.lose(tenant, integration, reason, rows.drop(tenant, integration, generation))
      const isLost = (yield* rows.find(tenant, integration)) === undefined
      return yield* Effect.fail(
        isLost ? new GrantLost({ reason }) : new ProviderAway({ what: "was authorized anew meanwhile" })
      )
    })

    const renewed = Effect.fnUntraced(function* (
      tenant: TenantId,
      integration: string,
      isGood: (held: Held) => boolean
    ) {
      const provider = yield* providerOf(tenant, integration)
      return yield* Effect.catchTag(replaced(tenant, integration, provider, isGood), "Spent", ({ generation }) =>
        lose(tenant, integration, provider, generation)
      )
    })

    return {
      /** What opens the provider's API now and for a minute at least. */
      accessOf: (tenant: TenantId, integration: string): Effect.Effect<Access, GrantLost | ProviderAway> =>
        Effect.flatMap(rows.find(tenant, integration), (held) => {
          if (held === undefined) return Effect.fail(unauthorized)
          if (held.isFresh) return Effect.succeed(accessIn(held))
          return together(
            `${tenant} ${integration}`,
            renewed(tenant, integration, ({ isFresh }) => isFresh)
          )
        }),

      /** The same when the provider would not have this token, unless there is another one by now. */
      renew: (
        tenant: TenantId,
        integration: string,
        usedToken: string
      ): Effect.Effect<Access, GrantLost | ProviderAway> =>
        together(
          `${tenant} ${integration} ${hashOf(usedToken).toString("hex")}`,
          renewed(tenant, integration, ({ accessToken, isFresh }) => isFresh && accessToken !== usedToken)
        )
    }
  })
}) {}
