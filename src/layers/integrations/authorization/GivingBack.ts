import { Array as Arr, Effect, identity, Option } from "effect"
import { isOAuth } from "../../../domain/integrations/Authorization.ts"
import type { Provider } from "../../../domain/integrations/Provider.ts"
import { CurrentTenant } from "../../../domain/tenancy/Caller.ts"
import { OAuthApps } from "../../oauth/Apps.ts"
import { revoke } from "../../oauth/TokenEndpoint.ts"
import { Integrations } from "../Integrations.ts"
import { GrantRows } from "./GrantRows.ts"
import { PendingGrants } from "./PendingGrants.ts"

interface Tokens {
  readonly accessToken: string
  readonly refreshToken?: string | undefined
}

/** Gives back what we were granted and do not want any more, where a provider takes it. */
export class GivingBack extends Effect.Service<GivingBack>()("layers/GivingBack", {
  dependencies: [GrantRows.Default, Integrations.Default, OAuthApps.Default, PendingGrants.Default],
  effect: Effect.gen(function* () {
    const rows = yield* GrantRows
    const integrations = yield* Integrations
    const apps = yield* OAuthApps
    const pending = yield* PendingGrants

    const giveBack = (provider: Provider, { accessToken, refreshToken }: Tokens) =>
      isOAuth(provider) ? revoke(apps.of(provider), refreshToken ?? accessToken) : Effect.void

    /** What does not open, as after the key was lost, keeps nobody from doing away with it. */
    const opening = <A extends Tokens | undefined>(sealed: Effect.Effect<A>) =>
      Effect.catchAllCause(Effect.asSome(sealed), (cause) =>
        Effect.as(Effect.logWarning("A grant could not be opened to be given back", cause), Option.none<A>())
      )

    const tokensOf = Effect.fnUntraced(function* (tenant: string, id: string) {
      const held = yield* opening(rows.find(tenant, id))
      const waiting = yield* Effect.forEach(yield* pending.of(tenant, id), opening)
      return Arr.filterMap<Option.Option<Tokens | undefined>, Tokens>(
        [held, ...waiting],
        Option.flatMapNullable(identity)
      )
    })

    const tokensWith = (provider: Provider, tenant: string, id: string) =>
      isOAuth(provider) ? tokensOf(tenant, id) : Effect.succeed([])

    const giveBackAll = (provider: Provider, tokens: ReadonlyArray<Tokens>) =>
      Effect.forEach(tokens, (each) => giveBack(provider, each), { discard: true })

    return {
      /** Gives back everything an integration that is there yet was granted. */
      all: (tenant: string, id: string, provider: Provider) =>
        Effect.flatMap(tokensWith(provider, tenant, id), (tokens) => giveBackAll(provider, tokens)),

      /** Deletes an integration. Its provider is told afterwards, and nobody waits for that. */
      remove: Effect.fnUntraced(function* (id: string) {
        const tenant = yield* CurrentTenant
        const { provider } = yield* integrations.get(id)
        const tokens = yield* tokensWith(provider, tenant, id)
        yield* integrations.remove(id)
        yield* Effect.forkDaemon(giveBackAll(provider, tokens))
      }),

      /** Discards grants nobody confirmed in time; tells how many. */
      sweep: (most: number) =>
        Effect.gen(function* () {
          const { count, unwanted } = yield* pending.sweep(most)
          const give = ({ grant, provider }: (typeof unwanted)[number]) =>
            Effect.flatMap(
              opening(grant),
              Option.match({ onNone: () => Effect.void, onSome: (one) => giveBack(provider, one) })
            )
          yield* Effect.forEach(unwanted, give, { concurrency: 8, discard: true })
          return count
        })
    }
  })
}) {}
