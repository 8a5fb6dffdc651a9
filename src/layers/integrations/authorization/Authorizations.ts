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

/** What came of somebody's coming back, for the page that tells of it. Without `begun` there is nobody to tell. */
export interface Outcome {
  readonly begun?: Begun
  readonly fault?: Fruitless["fault"]
  /** What the one who began has to send us before anything comes of it. */
  readonly confirmation?: string
}

const parts = Effect.all({
  sql: SqlClient.SqlClient,
  settings: Settings,
  apps: OAuthApps,
  exchanging: Exchanging,
  integrations: Integrations,
  memberships: Memberships,
  moves: AuthorizationMoves,
  pending: PendingGrants,
  rows: GrantRows,
  states: OAuthStates
})

/** Letting us into other systems: begun by somebody here, consented to there, and completed by the one who began. */
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
    const { apps, exchanging, integrations, memberships, moves, pending, rows, settings, sql, states } = yield* parts
    const trusted = new Set(settings.OAUTH_TRUSTED_ORIGINS)

    /** Puts a grant to use, for an integration that is held. */
    const settle = Effect.fnUntraced(function* (seen: Versioned<Integration>, grant: Grant, person: Person) {
      const tenant = yield* CurrentTenant
      const { id } = seen.value
      yield* mayBind(seen.value, grant.siteId)
      yield* pending.dropOthers(tenant, id, person)
      yield* rows.put(tenant, id, grant, yield* rows.held(tenant, id))
      return yield* moves.authorized(seen, grant.siteId)
    })

    const begunBy = (state: string | undefined, person: Person | undefined) =>
      Effect.gen(function* () {
        const begun = state === undefined ? undefined : yield* states.consume(state, person)
        if (begun !== undefined) return begun
        if (person === undefined) return yield* Effect.fail(new Unauthorized())
        const isOfAnother = state !== undefined && (yield* states.isOpen(state))
        return isOfAnother ? yield* Effect.fail(new Forbidden()) : undefined
      })

    const mayStill = (begun: Begun, person: Person) =>
      Effect.flatMap(memberships.find(begun.tenant, person), (member) =>
        member !== undefined && mayActAs(member.role, "ADMIN") ? Effect.void : Effect.fail(new Forbidden())
      )

    const codeOf = ({ code, error }: Query) => {
      if (error !== undefined) return Effect.fail(fruitless(error === "access_denied" ? error : "provider_error"))
      return code === undefined ? Effect.fail(fruitless("provider_error")) : Effect.succeed(code)
    }

    /** Whoever brings a bearer has proved to be the one who began; the grant of anybody else waits. */
    const keep = Effect.fnUntraced(function* (begun: Begun, grant: Grant, person: Person | undefined) {
      if (person === undefined) {
        const confirmation = yield* pending.put(begun, grant)
        return confirmation === undefined
          ? yield* Effect.fail(fruitless("integration_gone"))
          : ({ begun, confirmation } satisfies Outcome)
      }
      yield* Effect.flatMap(integrations.held(begun.integration), (seen) => settle(seen, grant, person)).pipe(
        Effect.catchTag("ValidationError", () => Effect.fail(fruitless("site_changed"))),
        atomically(sql)
      )
      return { begun } satisfies Outcome
    })

    const goOn = (begun: Begun, query: Query, person: Person | undefined) =>
      Effect.gen(function* () {
        const code = yield* codeOf(query)
        const { config } = yield* integrations.get(begun.integration)
        return yield* keep(begun, yield* exchanging.grant(begun, config, code), person)
      }).pipe(
        Effect.provideService(CurrentTenant, begun.tenant),
        Effect.catchTags({
          NotFound: () => Effect.succeed<Outcome>({ begun, fault: "integration_gone" }),
          Fruitless: ({ fault, reason }) =>
            Effect.as(moves.note(begun.tenant, begun.integration, reason), { begun, fault } satisfies Outcome)
        })
      )

    return {
      /** Where to send the caller, who will come back with a state that only he was told. */
      begin: Effect.fnUntraced(function* (id: string, origin: string) {
        const { value } = yield* Effect.flatMap(integrations.current(id), integrations.accepted)
        const provider = yield* oauthProviderOf(value)
        yield* mayConnect(provider, apps.missing(provider))
        yield* mayMove(value.status, "authorize")
        if (!trusted.has(origin)) return yield* Effect.fail(breaks("origin", "enum", "is not a trusted origin"))
        const { challenge, state } = yield* states.begin(id, provider, origin)
        return { authorizationUrl: authorizationUrl(apps.of(provider), state, challenge) }
      }),

      /** What comes of what a provider sent somebody back with. The state is used up before anything else happens. */
      finish: (query: Query, person: Person | undefined): Effect.Effect<Outcome, WireError> =>
        Effect.gen(function* () {
          const begun = yield* begunBy(query.state, person)
          if (begun === undefined) return { fault: "invalid_state" } satisfies Outcome
          if (person !== undefined) yield* mayStill(begun, person)
          return yield* goOn(begun, query, person)
        }),

      /** Puts the grant to use that waits for the caller's word. */
      confirm: (id: string, confirmation: string) =>
        Effect.gen(function* () {
          const seen = yield* integrations.hold(id)
          return yield* settle(seen, yield* pending.take(id, confirmation), yield* Principal)
        }).pipe(atomically(sql))
    }
  })
}) {}
