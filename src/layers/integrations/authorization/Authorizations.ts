import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { breaks, Forbidden, Unauthorized, type WireError } from "../../../domain/Errors.ts"
import { type CallbackQuery, oauthProviderOf } from "../../../domain/integrations/Authorization.ts"
import { type Integration, mayBind, mayConnect } from "../../../domain/integrations/Integration.ts"
import { mayMove } from "../../../domain/integrations/IntegrationStatus.ts"
import { CurrentTenant, Principal } from "../../../domain/tenancy/Caller.ts"
import { mayActAs } from "../../../domain/tenancy/Roles.ts"
import { Memberships } from "../../auth/Memberships.ts"
import { Settings } from "../../config/Settings.ts"
import { authorizationUrl, OAuthApps } from "../../oauth/Apps.ts"
import { atomically } from "../../postgres/connection/Transaction.ts"
import type { Versioned } from "../../postgres/repository/ResourceSpec.ts"
import { Integrations } from "../Integrations.ts"
import { AuthorizationMoves } from "./AuthorizationMoves.ts"
import { Exchanging, type Fruitless, fruitless } from "./Exchanging.ts"
import { GrantRows } from "./GrantRows.ts"
import { type Begun, OAuthStates } from "./OAuthStates.ts"
import { type Grant, PendingGrants } from "./PendingGrants.ts"

type Query = typeof CallbackQuery.Type
type Person = Principal["Type"]

/** The result of an OAuth callback, for the callback page. Without a consumed state the page has no window to notify. */
export interface Outcome {
  readonly begun?: Begun
  readonly fault?: Fruitless["fault"]
  /** Code with which the person who started the authorization must confirm the grant. */
  readonly confirmation?: string
}

const services = Effect.all({
  sql: SqlClient.SqlClient,
  settings: Settings,
  apps: OAuthApps,
  tokenExchange: Exchanging,
  integrations: Integrations,
  memberships: Memberships,
  transitions: AuthorizationMoves,
  pendingGrants: PendingGrants,
  store: GrantRows,
  states: OAuthStates
})

/** OAuth authorizations: a member starts one, consents at the provider, and the same member completes it. */
export class Authorizations extends Effect.Service<Authorizations>()("layers/Authorizations", {
  dependencies: [
    OAuthApps.Default,
    Exchanging.Default,
    Integrations.Default,
    Memberships.Default,
    AuthorizationMoves.Default,
    PendingGrants.Default,
    GrantRows.Default,
    OAuthStates.Default
  ],
  effect: Effect.gen(function* () {
    const { apps, integrations, memberships, pendingGrants, settings, sql, states, store, tokenExchange, transitions } =
      yield* services
    const trustedOrigins = new Set(settings.OAUTH_TRUSTED_ORIGINS)

    /** Saves a grant and marks the locked integration as authorized. */
    const applyGrant = Effect.fnUntraced(function* (seen: Versioned<Integration>, grant: Grant, person: Person) {
      const tenant = yield* CurrentTenant
      const { id } = seen.value
      yield* mayBind(seen.value, grant.siteId)
      yield* pendingGrants.dropOthers(tenant, id, person)
      yield* store.put(tenant, id, grant, yield* store.held(tenant, id))
      return yield* transitions.authorized(seen, grant.siteId)
    })

    const consumeState = (state: string | undefined, person: Person | undefined) =>
      Effect.gen(function* () {
        const oauthState = state === undefined ? undefined : yield* states.consume(state, person)
        if (oauthState !== undefined) return oauthState
        if (person === undefined) return yield* Effect.fail(new Unauthorized())
        const isStartedByAnother = state !== undefined && (yield* states.isOpen(state))
        return isStartedByAnother ? yield* Effect.fail(new Forbidden()) : undefined
      })

    const requireAdmin = (oauthState: Begun, person: Person) =>
      Effect.flatMap(memberships.find(oauthState.tenant, person), (member) =>
        member !== undefined && mayActAs(member.role, "ADMIN") ? Effect.void : Effect.fail(new Forbidden())
      )

    const codeOf = ({ code, error }: Query) => {
      if (error !== undefined) return Effect.fail(fruitless(error === "access_denied" ? error : "provider_error"))
      return code === undefined ? Effect.fail(fruitless("provider_error")) : Effect.succeed(code)
    }

    /** A caller with a bearer token is known to have started the authorization. Without one, the grant waits for a confirmation. */
    const storeGrant = Effect.fnUntraced(function* (oauthState: Begun, grant: Grant, person: Person | undefined) {
      if (person === undefined) {
        const confirmation = yield* pendingGrants.put(oauthState, grant)
        return confirmation === undefined
          ? yield* Effect.fail(fruitless("integration_gone"))
          : ({ begun: oauthState, confirmation } satisfies Outcome)
      }
      yield* Effect.flatMap(integrations.held(oauthState.integration), (seen) => applyGrant(seen, grant, person)).pipe(
        Effect.catchTag("ValidationError", () => Effect.fail(fruitless("site_changed"))),
        atomically(sql)
      )
      return { begun: oauthState } satisfies Outcome
    })

    const exchangeAndStore = (oauthState: Begun, query: Query, person: Person | undefined) =>
      Effect.gen(function* () {
        const code = yield* codeOf(query)
        const { config } = yield* integrations.get(oauthState.integration)
        return yield* storeGrant(oauthState, yield* tokenExchange.grant(oauthState, config, code), person)
      }).pipe(
        Effect.provideService(CurrentTenant, oauthState.tenant),
        Effect.catchTags({
          NotFound: () => Effect.succeed<Outcome>({ begun: oauthState, fault: "integration_gone" }),
          AuthorizationFailed: ({ fault, reason }) =>
            Effect.as(transitions.note(oauthState.tenant, oauthState.integration, reason), {
              begun: oauthState,
              fault
            } satisfies Outcome)
        })
      )

    return {
      /** Returns the authorization URL of the provider. Only the caller learns the state in it. */
      begin: Effect.fnUntraced(function* (id: string, origin: string) {
        const { value } = yield* Effect.flatMap(integrations.current(id), integrations.accepted)
        const provider = yield* oauthProviderOf(value)
        yield* mayConnect(provider, apps.missing(provider))
        yield* mayMove(value.status, "authorize")
        if (!trustedOrigins.has(origin)) return yield* Effect.fail(breaks("origin", "enum", "is not a trusted origin"))
        const { challenge, state } = yield* states.begin(id, provider, origin)
        return { authorizationUrl: authorizationUrl(apps.of(provider), state, challenge) }
      }),

      /** Handles the callback of a provider. Consumes the state before anything else. */
      finish: (query: Query, person: Person | undefined): Effect.Effect<Outcome, WireError> =>
        Effect.gen(function* () {
          const oauthState = yield* consumeState(query.state, person)
          if (oauthState === undefined) return { fault: "invalid_state" } satisfies Outcome
          if (person !== undefined) yield* requireAdmin(oauthState, person)
          return yield* exchangeAndStore(oauthState, query, person)
        }),

      /** Applies the pending grant that the caller confirms. */
      confirm: (id: string, confirmation: string) =>
        Effect.gen(function* () {
          const seen = yield* integrations.hold(id)
          return yield* applyGrant(seen, yield* pendingGrants.take(id, confirmation), yield* Principal)
        }).pipe(atomically(sql))
    }
  })
}) {}
