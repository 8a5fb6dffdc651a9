import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { type ApiError, Forbidden, fieldError, Unauthorized } from "../../../domain/Errors.ts"
import { type CallbackQuery, requireOAuthProvider } from "../../../domain/integrations/Authorization.ts"
import {
  type Integration,
  requireProviderConfigured,
  requireSameSite
} from "../../../domain/integrations/Integration.ts"
import { requireIntegrationTransition } from "../../../domain/integrations/IntegrationStatus.ts"
import { describeValue } from "../../../domain/RejectedValue.ts"
import { CurrentTenant, Principal } from "../../../domain/tenancy/RequestContext.ts"
import { hasRole } from "../../../domain/tenancy/Roles.ts"
import { Settings, type SettingsShape } from "../../infra/config/Settings.ts"
import { buildAuthorizationUrl, OAuthApps } from "../../infra/oauth/OAuthApps.ts"
import { inTransaction } from "../../infra/postgres/connection/Transactions.ts"
import type { Versioned } from "../../infra/postgres/repository/ResourceSpec.ts"
import { withSpans } from "../../infra/telemetry/UseCaseSpans.ts"
import { Memberships } from "../../tenancy/Memberships.ts"
import { Integrations } from "../Integrations.ts"
import { AuthorizationTransitions } from "./AuthorizationTransitions.ts"
import { GrantStore } from "./GrantStore.ts"
import { type OAuthState, OAuthStates } from "./OAuthStates.ts"
import { type OAuthGrant, PendingGrants } from "./PendingGrants.ts"
import { type AuthorizationFailed, authorizationFailed, TokenExchange } from "./TokenExchange.ts"

type Query = typeof CallbackQuery.Type
type Person = Principal["Type"]

/** The result of an OAuth callback, for the callback page. Without a consumed state the page has no window to notify. */
export interface AuthorizationResult {
  readonly oauthState?: OAuthState
  readonly errorCode?: AuthorizationFailed["errorCode"]
  /** Code with which the person who started the authorization must confirm the grant. */
  readonly confirmation?: string
}

const services = Effect.all({
  sql: SqlClient.SqlClient,
  settings: Settings,
  apps: OAuthApps,
  tokenExchange: TokenExchange,
  integrations: Integrations,
  memberships: Memberships,
  transitions: AuthorizationTransitions,
  pendingGrants: PendingGrants,
  store: GrantStore,
  states: OAuthStates
})

const untrustedOrigin = (origin: string) =>
  fieldError(
    "origin",
    "enum",
    `must be an origin that the operator lists in OAUTH_TRUSTED_ORIGINS, but is ${describeValue(origin)}`
  )

/** The console opens the popup too. The service serves it at its public address. */
const consoleOriginsOf = ({ CONSOLE, PUBLIC_URL }: SettingsShape) =>
  CONSOLE === "off" || PUBLIC_URL === undefined ? [] : [new URL(PUBLIC_URL).origin]

/** OAuth authorizations: a member starts one, consents at the provider, and the same member completes it. */
export class Authorizations extends Effect.Service<Authorizations>()("layers/Authorizations", {
  dependencies: [
    OAuthApps.Default,
    TokenExchange.Default,
    Integrations.Default,
    Memberships.Default,
    AuthorizationTransitions.Default,
    PendingGrants.Default,
    GrantStore.Default,
    OAuthStates.Default
  ],
  effect: Effect.gen(function* () {
    const { apps, integrations, memberships, pendingGrants, settings, sql, states, store, tokenExchange, transitions } =
      yield* services
    const trustedOrigins = new Set([...settings.OAUTH_TRUSTED_ORIGINS, ...consoleOriginsOf(settings)])

    /** Saves a grant and marks the locked integration as authorized. */
    const applyGrant = Effect.fnUntraced(function* (seen: Versioned<Integration>, grant: OAuthGrant, person: Person) {
      const tenant = yield* CurrentTenant
      const { id } = seen.value
      yield* requireSameSite(seen.value, grant.siteId)
      yield* pendingGrants.removeOthers(tenant, id, person)
      yield* store.save(tenant, id, grant, yield* store.findForUpdate(tenant, id))
      return yield* transitions.authorize(seen, grant.siteId)
    })

    const consumeState = (state: string | undefined, person: Person | undefined) =>
      Effect.gen(function* () {
        const oauthState = state === undefined ? undefined : yield* states.consume(state, person)
        if (oauthState !== undefined) return oauthState
        if (person === undefined) return yield* Effect.fail(new Unauthorized())
        const isStartedByAnother = state !== undefined && (yield* states.isValid(state))
        return isStartedByAnother ? yield* Effect.fail(new Forbidden()) : undefined
      })

    const requireAdmin = (oauthState: OAuthState, person: Person) =>
      Effect.flatMap(memberships.find(oauthState.tenant, person), (member) =>
        member !== undefined && hasRole(member.role, "ADMIN") ? Effect.void : Effect.fail(new Forbidden())
      )

    const codeOf = ({ code, error }: Query) => {
      if (error !== undefined)
        return Effect.fail(authorizationFailed(error === "access_denied" ? error : "provider_error"))
      return code === undefined ? Effect.fail(authorizationFailed("provider_error")) : Effect.succeed(code)
    }

    /** A caller with a bearer token is known to have started the authorization. Without one, the grant waits for a confirmation. */
    const storeGrant = Effect.fnUntraced(function* (
      oauthState: OAuthState,
      grant: OAuthGrant,
      person: Person | undefined
    ) {
      if (person === undefined) {
        const confirmation = yield* pendingGrants.save(oauthState, grant)
        return confirmation === undefined
          ? yield* Effect.fail(authorizationFailed("integration_gone"))
          : ({ oauthState, confirmation } satisfies AuthorizationResult)
      }
      yield* Effect.flatMap(integrations.lockForUpdate(oauthState.integration), (seen) =>
        applyGrant(seen, grant, person)
      ).pipe(
        Effect.catchTag("ValidationError", () => Effect.fail(authorizationFailed("site_changed"))),
        inTransaction(sql)
      )
      return { oauthState } satisfies AuthorizationResult
    })

    const exchangeAndStore = (oauthState: OAuthState, query: Query, person: Person | undefined) =>
      Effect.gen(function* () {
        const code = yield* codeOf(query)
        const { config } = yield* integrations.get(oauthState.integration)
        return yield* storeGrant(oauthState, yield* tokenExchange.exchangeCode(oauthState, config, code), person)
      }).pipe(
        Effect.provideService(CurrentTenant, oauthState.tenant),
        Effect.catchTags({
          NotFound: () => Effect.succeed<AuthorizationResult>({ oauthState, errorCode: "integration_gone" }),
          AuthorizationFailed: ({ errorCode, reason }) =>
            Effect.as(transitions.recordFailure(oauthState.tenant, oauthState.integration, reason), {
              oauthState,
              errorCode
            } satisfies AuthorizationResult)
        })
      )

    return {
      /** Returns the authorization URL of the provider. Only the caller learns the state in it. */
      begin: Effect.fnUntraced(function* (id: string, origin: string) {
        const { value } = yield* Effect.flatMap(integrations.getVersion(id), integrations.requireIfMatch)
        const provider = yield* requireOAuthProvider(value)
        yield* requireProviderConfigured(provider, apps.missingSettings(provider))
        yield* requireIntegrationTransition(value.status, "authorize")
        if (!trustedOrigins.has(origin)) return yield* Effect.fail(untrustedOrigin(origin))
        const { challenge, state } = yield* states.begin(id, provider, origin)
        return { authorizationUrl: buildAuthorizationUrl(apps.of(provider), state, challenge) }
      }),

      /** Handles the callback of a provider. Consumes the state before anything else. */
      complete: (query: Query, person: Person | undefined): Effect.Effect<AuthorizationResult, ApiError> =>
        Effect.gen(function* () {
          const oauthState = yield* consumeState(query.state, person)
          if (oauthState === undefined) return { errorCode: "invalid_state" } satisfies AuthorizationResult
          if (person !== undefined) yield* requireAdmin(oauthState, person)
          return yield* exchangeAndStore(oauthState, query, person)
        }),

      /** Applies the pending grant that the caller confirms. */
      confirm: (id: string, confirmation: string) =>
        Effect.gen(function* () {
          const seen = yield* integrations.lockForWrite(id)
          return yield* applyGrant(seen, yield* pendingGrants.consume(id, confirmation), yield* Principal)
        }).pipe(inTransaction(sql))
    }
  }).pipe(withSpans("Authorizations"))
}) {}
