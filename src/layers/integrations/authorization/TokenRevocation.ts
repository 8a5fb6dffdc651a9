import { Array as Arr, Effect, identity, Option } from "effect"
import { isOAuthProvider } from "../../../domain/integrations/Authorization.ts"
import type { Provider } from "../../../domain/integrations/Provider.ts"
import { CurrentTenant } from "../../../domain/tenancy/RequestContext.ts"
import { OAuthApps } from "../../infra/oauth/OAuthApps.ts"
import { revokeToken } from "../../infra/oauth/TokenEndpoint.ts"
import { withSpans } from "../../infra/telemetry/UseCaseSpans.ts"
import { Integrations } from "../Integrations.ts"
import { GrantStore } from "./GrantStore.ts"
import { PendingGrants } from "./PendingGrants.ts"

interface Tokens {
  readonly accessToken: string
  readonly refreshToken?: string | undefined
}

/** Revokes tokens that we no longer need, if the provider supports it. */
export class TokenRevocation extends Effect.Service<TokenRevocation>()("layers/TokenRevocation", {
  dependencies: [GrantStore.Default, Integrations.Default, OAuthApps.Default, PendingGrants.Default],
  effect: Effect.gen(function* () {
    const store = yield* GrantStore
    const integrations = yield* Integrations
    const apps = yield* OAuthApps
    const pendingGrants = yield* PendingGrants

    const revokeTokens = (provider: Provider, { accessToken, refreshToken }: Tokens) =>
      isOAuthProvider(provider) ? revokeToken(apps.of(provider), refreshToken ?? accessToken) : Effect.void

    /** Skips a grant that cannot be decrypted, for example after the loss of the key: its deletion must still succeed. */
    const decryptIfPossible = <A extends Tokens | undefined>(sealed: Effect.Effect<A>) =>
      Effect.catchAllCause(Effect.asSome(sealed), (cause) =>
        Effect.as(Effect.logWarning("Could not decrypt a grant to revoke it", cause), Option.none<A>())
      )

    const loadTokens = Effect.fnUntraced(function* (tenant: string, id: string) {
      const active = yield* decryptIfPossible(store.find(tenant, id))
      const unconfirmed = yield* Effect.forEach(yield* pendingGrants.list(tenant, id), decryptIfPossible)
      return Arr.filterMap<Option.Option<Tokens | undefined>, Tokens>(
        [active, ...unconfirmed],
        Option.flatMapNullable(identity)
      )
    })

    const loadTokensIfOAuth = (provider: Provider, tenant: string, id: string) =>
      isOAuthProvider(provider) ? loadTokens(tenant, id) : Effect.succeed([])

    const revokeEach = (provider: Provider, tokens: ReadonlyArray<Tokens>) =>
      Effect.forEach(tokens, (each) => revokeTokens(provider, each), { discard: true })

    return {
      /** Revokes all tokens of an integration that still exists. */
      revokeAll: (tenant: string, id: string, provider: Provider) =>
        Effect.flatMap(loadTokensIfOAuth(provider, tenant, id), (tokens) => revokeEach(provider, tokens)),

      /** Deletes an integration, and then revokes its tokens in the background. */
      removeIntegration: Effect.fnUntraced(function* (id: string) {
        const tenant = yield* CurrentTenant
        const { provider } = yield* integrations.get(id)
        const tokens = yield* loadTokensIfOAuth(provider, tenant, id)
        yield* integrations.remove(id)
        yield* Effect.forkDaemon(revokeEach(provider, tokens))
      }),

      /** Deletes and revokes unconfirmed grants that have expired. Returns how many it deleted. */
      sweep: (max: number) =>
        Effect.gen(function* () {
          const { count, toRevoke } = yield* pendingGrants.sweep(max)
          const revokeExpired = ({ grant, provider }: (typeof toRevoke)[number]) =>
            Effect.flatMap(
              decryptIfPossible(grant),
              Option.match({ onNone: () => Effect.void, onSome: (one) => revokeTokens(provider, one) })
            )
          yield* Effect.forEach(toRevoke, revokeExpired, { concurrency: 8, discard: true })
          return count
        })
    }
  }).pipe(withSpans("TokenRevocation"))
}) {}
