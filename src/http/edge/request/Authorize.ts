import type { IncomingHttpHeaders } from "node:http"
import { Context, Effect, Option, Schema } from "effect"
import { breaks, Forbidden, NotFound, Unauthorized, type WireError } from "../../../domain/Errors.ts"
import { CurrentMember, CurrentTenant, Principal } from "../../../domain/tenancy/Caller.ts"
import { mayActAs } from "../../../domain/tenancy/Roles.ts"
import { TenantId } from "../../../domain/tenancy/Tenant.ts"
import { Memberships } from "../../../layers/auth/Memberships.ts"
import { Tokens } from "../../../layers/auth/Tokens.ts"
import type { AccessRule } from "../../api/Access.ts"

type MemberRule = Extract<AccessRule, { for: "member" }>

interface Credentials {
  readonly headers: IncomingHttpHeaders
  readonly params: Readonly<Record<string, string | undefined>>
}

/** What is known of the caller, for handlers and for the log. */
export interface Identity {
  readonly principal: Principal["Type"] | undefined
  readonly tenant: TenantId | undefined
  readonly services: Context.Context<Principal | CurrentTenant | CurrentMember>
}

const bearer = (header: string | undefined) => /^Bearer +([\w~+/.=-]+)$/i.exec(header ?? "")?.[1]
const tenantIdOf = Schema.decodeUnknownOption(TenantId)

const inHeader = (headers: IncomingHttpHeaders) =>
  headers["tenant-id"] === undefined
    ? Effect.fail(breaks("tenant-id", "required", "names the tenant to work in; this operation needs the header"))
    : Option.match(tenantIdOf(headers["tenant-id"]), {
        onNone: () => Effect.fail(breaks("tenant-id", "format", "must be a tenant identifier (tnt_…)")),
        onSome: Effect.succeed
      })

const inPath = ({ params }: Credentials) => Effect.mapError(tenantIdOf(params["tenantId"]), () => new NotFound())

// Handlers of such operations ask for nothing else, which the walk over every operation in the tests would show.
const services = <A>(context: Context.Context<A>) =>
  context as unknown as Context.Context<Principal | CurrentTenant | CurrentMember>

const nobody: Identity = { principal: undefined, tenant: undefined, services: services(Context.empty()) }

/** The one gate: first the bearer, then the tenant, then the role. Nothing else of the request is looked at before. */
export const makeAuthorize = Effect.gen(function* () {
  const tokens = yield* Tokens
  const memberships = yield* Memberships

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
    return { principal, tenant, services: context } satisfies Identity
  })

  return (rule: AccessRule, credentials: Credentials): Effect.Effect<Identity, WireError> => {
    if (rule.for === "anyone") return Effect.succeed(nobody)
    const token = bearer(credentials.headers.authorization)
    if (token === undefined) return Effect.fail(new Unauthorized())
    return Effect.flatMap(
      tokens.verify(token),
      (principal): Effect.Effect<Identity, WireError> =>
        rule.for === "member"
          ? asMember(rule, principal, credentials)
          : Effect.succeed({ principal, tenant: undefined, services: services(Context.make(Principal, principal)) })
    )
  }
})
