import type { IncomingHttpHeaders } from "node:http"
import { Context, Effect, Option, Schema } from "effect"
import {
  breaks,
  Forbidden,
  NotFound,
  type TooManyRequests,
  Unauthorized,
  type WireError
} from "../../../domain/Errors.ts"
import { CurrentMember, CurrentTenant, callerKey, InboundCall, Principal } from "../../../domain/tenancy/Caller.ts"
import { mayActAs } from "../../../domain/tenancy/Roles.ts"
import { TenantId } from "../../../domain/tenancy/Tenant.ts"
import { EndpointKey } from "../../../domain/tracker/IssueWebhook.ts"
import { Memberships } from "../../../layers/auth/Memberships.ts"
import { Tokens } from "../../../layers/auth/Tokens.ts"
import { isTrackers, TrackerTokens } from "../../../layers/auth/TrackerTokens.ts"
import { WebhookEndpoints } from "../../../layers/integrations/WebhookEndpoints.ts"
import type { AccessRule } from "../../api/Access.ts"
import type { Admission } from "./Admission.ts"

type MemberRule = Extract<AccessRule, { for: "member" }>

interface Credentials {
  readonly headers: IncomingHttpHeaders
  readonly params: Readonly<Record<string, string | undefined>>
  /** Headers of the response, as far as they are known. */
  readonly responseHeaders: Record<string, string>
}

/** What is known of the caller, for handlers and for the log. */
export interface Identity {
  readonly principal: Principal["Type"] | undefined
  readonly tenant: TenantId | undefined
  readonly services: Context.Context<Services>
}

type Services = Principal | CurrentTenant | CurrentMember | InboundCall

export const bearer = (header: string | undefined) => /^Bearer +([\w~+/.=-]+)$/i.exec(header ?? "")?.[1]
const tenantIdOf = Schema.decodeUnknownOption(TenantId)
const keyOf = Schema.decodeUnknownOption(EndpointKey)

const inHeader = (headers: IncomingHttpHeaders) =>
  headers["tenant-id"] === undefined
    ? Effect.fail(breaks("tenant-id", "required", "names the tenant to work in; this operation needs the header"))
    : Option.match(tenantIdOf(headers["tenant-id"]), {
        onNone: () => Effect.fail(breaks("tenant-id", "format", "must be a tenant identifier (tnt_…)")),
        onSome: Effect.succeed
      })

const keyInPath = ({ params }: Credentials) =>
  Effect.mapError(keyOf(params["endpointKey"]), () =>
    breaks("endpointKey", "pattern", "must be 43 characters of A-Z, a-z, 0-9, _ and -")
  )

const inPath = ({ params }: Credentials) => Effect.mapError(tenantIdOf(params["tenantId"]), () => new NotFound())

// Cast because what an operation needs is known from its access, a value, and so not to the compiler: an operation that
// anyone may call asks for no principal. The walk over every operation in the tests shows one that would.
const services = <A>(context: Context.Context<A>) => context as unknown as Context.Context<Services>

const nobody: Identity = { principal: undefined, tenant: undefined, services: services(Context.empty()) }

/** The one gate: first the bearer, then the tenant, then the role. Nothing else of the request is looked at before. */
export const makeAuthorize = Effect.fnUntraced(function* (admission: Admission) {
  const tokens = yield* Tokens
  const trackerTokens = yield* TrackerTokens
  const memberships = yield* Memberships
  const endpoints = yield* WebhookEndpoints

  /** Lets who calls go on as they may, unless they are turned away at once. */
  const withCaller = <A, E>(
    token: string,
    { responseHeaders }: Credentials,
    goOn: (principal: Principal["Type"]) => Effect.Effect<A, E>
  ) =>
    Effect.flatMap(tokens.verify(token), (principal): Effect.Effect<A, E | TooManyRequests> => {
      const refusal = admission.refusalOf(principal, responseHeaders)
      return refusal === undefined ? goOn(principal) : Effect.fail(refusal)
    })

  const asMember = Effect.fnUntraced(function* (
    rule: MemberRule,
    principal: Principal["Type"],
    credentials: Credentials
  ) {
    const tenant = yield* rule.tenant === "header" ? inHeader(credentials.headers) : inPath(credentials)
    const member = yield* memberships.find(tenant, principal)
    if (member === undefined) return yield* Effect.fail(rule.tenant === "header" ? new Forbidden() : new NotFound())
    if (!mayActAs(member.role, rule.role)) return yield* Effect.fail(rule.hidden ? new NotFound() : new Forbidden())
    const context = Context.make(Principal, principal).pipe(
      Context.add(CurrentTenant, tenant),
      Context.add(CurrentMember, member)
    )
    return { principal, tenant, services: services(context) } satisfies Identity
  })

  /**
   * The algorithm a bearer names decides who verifies it, before any key is touched. To whoever is neither the tracker
   * nor an administrator, a key that is there is like one that is not.
   */
  const asTracker = Effect.fnUntraced(function* (token: string, credentials: Credentials) {
    const isTracker = isTrackers(token)
    const principal = isTracker
      ? yield* Effect.as(trackerTokens.verify(token), undefined)
      : yield* withCaller(token, credentials, Effect.succeed)
    const key = yield* keyInPath(credentials)
    const endpoint = yield* endpoints.find(key, principal === undefined ? key : callerKey(principal))
    if (endpoint === undefined) return yield* Effect.fail(new NotFound())
    if (principal !== undefined) {
      const member = yield* memberships.find(endpoint.tenant, principal)
      if (member === undefined || !mayActAs(member.role, "ADMIN")) return yield* Effect.fail(new NotFound())
    }
    const context = Context.make(InboundCall, { ...endpoint, isTracker })
    return { principal, tenant: endpoint.tenant, services: services(context) } satisfies Identity
  })

  return (rule: AccessRule, credentials: Credentials): Effect.Effect<Identity, WireError> => {
    if (rule.for === "anyone") return Effect.succeed(nobody)
    if (rule.for === "visitor" && credentials.headers.authorization === undefined) return Effect.succeed(nobody)
    const token = bearer(credentials.headers.authorization)
    if (token === undefined) return Effect.fail(new Unauthorized())
    if (rule.for === "tracker") return asTracker(token, credentials)
    return withCaller(
      token,
      credentials,
      (principal): Effect.Effect<Identity, WireError> =>
        rule.for === "member"
          ? asMember(rule, principal, credentials)
          : Effect.succeed({ principal, tenant: undefined, services: services(Context.make(Principal, principal)) })
    )
  }
})
