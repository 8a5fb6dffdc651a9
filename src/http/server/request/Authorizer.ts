import type { IncomingHttpHeaders } from "node:http"
import { Context, Effect, Option, Schema } from "effect"
import {
  type ApiError,
  Forbidden,
  fieldError,
  NotFound,
  type TooManyRequests,
  Unauthorized
} from "../../../domain/Errors.ts"
import { butIs } from "../../../domain/RejectedValue.ts"
import {
  CurrentMember,
  CurrentTenant,
  callerKey,
  InboundRequest,
  Principal
} from "../../../domain/tenancy/RequestContext.ts"
import { hasRole } from "../../../domain/tenancy/Roles.ts"
import { TenantId } from "../../../domain/tenancy/Tenant.ts"
import { EndpointKey } from "../../../domain/trackers/IssueWebhook.ts"
import { TokenVerifier } from "../../../layers/infra/auth/TokenVerifier.ts"
import type { StatementGuard } from "../../../layers/infra/concurrency/RequestShare.ts"
import { InboundEndpoints } from "../../../layers/integrations/InboundEndpoints.ts"
import { Memberships } from "../../../layers/tenancy/Memberships.ts"
import { isJiraToken, JiraTokenVerifier } from "../../../layers/trackers/jira/JiraTokenVerifier.ts"
import type { AccessRule } from "../../api/Access.ts"
import type { Admission } from "./Admission.ts"
import { andThen } from "./Steps.ts"

type MemberRule = Extract<AccessRule, { for: "member" }>

interface Credentials {
  readonly headers: IncomingHttpHeaders
  readonly params: Readonly<Record<string, string | undefined>>
  /** Response headers; authorization adds those of the rate limits. */
  readonly responseHeaders: Record<string, string>
  /** Whether the server can check the member together with the first statement of the request. */
  readonly canDefer: boolean
  /** Whether it can for another request of this operation. Then the handler does not get to know the member. */
  readonly startsWithStatement: boolean
}

/** The authenticated caller and its tenant, for handlers and the log. */
export interface Identity {
  readonly principal: Principal["Type"] | undefined
  readonly tenant: TenantId | undefined
  readonly services: Context.Context<IdentityServices>
  /** What the first statement of the request must take along, if the member is not looked up yet. */
  readonly deferred?: DeferredCheck | undefined
}

export interface DeferredCheck {
  readonly guard: StatementGuard
  /** Looks the member up after all. */
  readonly check: () => Effect.Effect<unknown, ApiError>
}

type IdentityServices = Principal | CurrentTenant | CurrentMember | InboundRequest

export const bearerTokenOf = (header: string | undefined) => /^Bearer +([\w~+/.=-]+)$/i.exec(header ?? "")?.[1]
const decodeTenantId = Schema.decodeUnknownOption(TenantId)
const decodeEndpointKey = Schema.decodeUnknownOption(EndpointKey)

const notTenantId = butIs("must be a tenant identifier (tnt_…)")

const requireTenantInHeader = (headers: IncomingHttpHeaders) =>
  headers["tenant-id"] === undefined
    ? Effect.fail(fieldError("tenant-id", "required", "is required: send the identifier of the tenant in this header"))
    : Option.match(decodeTenantId(headers["tenant-id"]), {
        onNone: () => Effect.fail(fieldError("tenant-id", "format", notTenantId(headers["tenant-id"]))),
        onSome: Effect.succeed
      })

const requireKeyInPath = ({ params }: Credentials) =>
  Effect.mapError(decodeEndpointKey(params["endpointKey"]), () =>
    fieldError("endpointKey", "pattern", "must be 43 characters of A-Z, a-z, 0-9, _ and -")
  )

const requireTenantInPath = ({ params }: Credentials) =>
  Option.match(decodeTenantId(params["tenantId"]), {
    onNone: () => Effect.fail(new NotFound()),
    onSome: Effect.succeed
  })

// Cast because the access rule is a value, so the compiler cannot know which services an operation has: a public
// operation has no Principal. The tests call every operation and would find a handler that uses a missing service.
const toServices = <A>(context: Context.Context<A>) => context as unknown as Context.Context<IdentityServices>

const anonymous: Identity = { principal: undefined, tenant: undefined, services: toServices(Context.empty()) }

/** Checks the bearer token, then the tenant, then the role, before any other part of the request is read. */
export const makeAuthorizer = Effect.fnUntraced(function* (admission: Admission) {
  const tokens = yield* TokenVerifier
  const trackerTokens = yield* JiraTokenVerifier
  const memberships = yield* Memberships
  const endpoints = yield* InboundEndpoints

  /** Verifies the token and continues, unless the caller is over its limits. */
  const withPrincipal = <A, E>(
    token: string,
    { responseHeaders }: Credentials,
    next: (principal: Principal["Type"]) => Effect.Effect<A, E>
  ) =>
    andThen(tokens.verify(token), (principal): Effect.Effect<A, E | TooManyRequests> => {
      const rejection = admission.checkCallerLimits(principal, responseHeaders)
      return rejection === undefined ? next(principal) : Effect.fail(rejection)
    })

  const findMember = (rule: MemberRule, tenant: TenantId, principal: Principal["Type"]) =>
    Effect.flatMap(memberships.find(tenant, principal), (member): Effect.Effect<CurrentMember["Type"], ApiError> => {
      if (member === undefined) return Effect.fail(rule.tenant === "header" ? new Forbidden() : new NotFound())
      if (!hasRole(member.role, rule.role)) return Effect.fail(rule.hidden ? new NotFound() : new Forbidden())
      return Effect.succeed(member)
    })

  const authorizeIn = (
    tenant: TenantId,
    rule: MemberRule,
    principal: Principal["Type"],
    credentials: Credentials
  ): Effect.Effect<Identity, ApiError> => {
    const context = Context.add(Context.make(Principal, principal), CurrentTenant, tenant)
    const guard = credentials.canDefer ? memberships.guard(tenant, principal, rule.role) : undefined
    if (guard !== undefined) {
      const deferred = { guard, check: () => findMember(rule, tenant, principal) }
      return Effect.succeed({ principal, tenant, services: toServices(context), deferred })
    }
    return Effect.map(findMember(rule, tenant, principal), (member) => {
      const services = credentials.startsWithStatement ? context : Context.add(context, CurrentMember, member)
      return { principal, tenant, services: toServices(services) }
    })
  }

  const authorizeMember = (rule: MemberRule, principal: Principal["Type"], credentials: Credentials) => {
    const tenant: Effect.Effect<TenantId, ApiError> =
      rule.tenant === "header" ? requireTenantInHeader(credentials.headers) : requireTenantInPath(credentials)
    return andThen(tenant, (id) => authorizeIn(id, rule, principal, credentials))
  }

  /**
   * The algorithm in the token's header selects the verifier. For callers other than the tracker and administrators of
   * the tenant, an existing endpoint key gives the same 404 as an unknown one.
   */
  const authorizeTracker = Effect.fnUntraced(function* (token: string, credentials: Credentials) {
    const isTracker = isJiraToken(token)
    const principal = isTracker
      ? yield* Effect.as(trackerTokens.verify(token), undefined)
      : yield* withPrincipal(token, credentials, Effect.succeed)
    const key = yield* requireKeyInPath(credentials)
    const endpoint = yield* endpoints.find(key, principal === undefined ? key : callerKey(principal))
    if (endpoint === undefined) return yield* Effect.fail(new NotFound())
    if (principal !== undefined) {
      const member = yield* memberships.find(endpoint.tenant, principal)
      if (member === undefined || !hasRole(member.role, "ADMIN")) return yield* Effect.fail(new NotFound())
    }
    const context = Context.make(InboundRequest, { ...endpoint, isTracker })
    return { principal, tenant: endpoint.tenant, services: toServices(context) } satisfies Identity
  })

  return (rule: AccessRule, credentials: Credentials): Effect.Effect<Identity, ApiError> => {
    if (rule.for === "anyone") return Effect.succeed(anonymous)
    if (rule.for === "optionalAuth" && credentials.headers.authorization === undefined) return Effect.succeed(anonymous)
    const token = bearerTokenOf(credentials.headers.authorization)
    if (token === undefined) return Effect.fail(new Unauthorized())
    if (rule.for === "tracker") return authorizeTracker(token, credentials)
    return withPrincipal(
      token,
      credentials,
      (principal): Effect.Effect<Identity, ApiError> =>
        rule.for === "member"
          ? authorizeMember(rule, principal, credentials)
          : Effect.succeed({ principal, tenant: undefined, services: toServices(Context.make(Principal, principal)) })
    )
  }
})
