import * as SqlClient from "@effect/sql/SqlClient"
import { Duration, Effect } from "effect"
import type { ServiceUnavailable, TooManyRequests } from "../../domain/Errors.ts"
import { type CurrentMember, callerKey, type Principal } from "../../domain/tenancy/RequestContext.ts"
import { hasRole, type Role, roles, rolesFrom } from "../../domain/tenancy/Roles.ts"
import type { TenantId } from "../../domain/tenancy/Tenant.ts"
import { makeCoalescer } from "../infra/auth/Coalescer.ts"
import { ExpiringCache } from "../infra/auth/ExpiringCache.ts"
import { standingRequests } from "../infra/concurrency/FairQueues.ts"
import { makeFairSemaphore } from "../infra/concurrency/FairSemaphore.ts"
import { makeToRequestError } from "../infra/concurrency/RequestRejection.ts"
import type { StatementGuard } from "../infra/concurrency/RequestShare.ts"

type Member = CurrentMember["Type"]

/** Look-ups before admission use a separate pool of this size, so that running requests do not delay them. */
export const admissionConnections = 2

/** Limits per caller, not per tenant: the caller's membership in the tenant is not verified yet. */
const lookUpLimits = {
  permits: 2 * admissionConnections,
  maxPerKey: admissionConnections,
  maxQueuedPerKey: 64,
  maxQueued: 1024,
  standing: standingRequests,
  timeout: Duration.seconds(5)
}

/** How long a role is remembered, in milliseconds. Each statement that relies on it is checked all the same. */
const maxRoleAge = 60_000
const maxRoles = 10_000

/** A deleted tenant has no members. */
const fromMembers = "from members m join tenants t on t.id = m.tenant_id and t.deleted_at is null"

const guardText = `select coalesce((
    select true ${fromMembers}
    where m.tenant_id = $1 and m.issuer = $2 and m.subject = $3 and m.role = any ($4::text[])
  ), reject_stranger())`

/** The roles that include a role, as an array of PostgreSQL. */
const includingRoles = Object.fromEntries(roles.map((role) => [role, `{${rolesFrom(role).join()}}`]))

const guardOf = (tenant: TenantId, { issuer, subject }: Principal["Type"], role: Role): StatementGuard => ({
  text: guardText,
  values: [tenant, issuer, subject, includingRoles[role]],
  state: "pending"
})

/** Looks up members without a cache. */
export class Memberships extends Effect.Service<Memberships>()("layers/Memberships", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const coalesce = makeCoalescer<Member | undefined, ServiceUnavailable | TooManyRequests>()
    const lookUps = makeFairSemaphore(lookUpLimits, makeToRequestError("members"))

    const loadMember = (tenant: TenantId, { issuer, subject }: Principal["Type"]) =>
      sql<Member>`
        select m.id, m.role ${sql.literal(fromMembers)}
        where m.tenant_id = ${tenant} and m.issuer = ${issuer} and m.subject = ${subject}`.pipe(
        Effect.orDie,
        Effect.map((rows) => rows[0])
      )

    /** The roles that members had when they were looked up, by tenant and caller. */
    const knownRoles = new ExpiringCache<Role>(maxRoles)
    const remember = (key: string, member: Member | undefined) => {
      if (member === undefined) knownRoles.delete(key)
      else knownRoles.set(key, member.role, Date.now() + maxRoleAge)
    }

    return {
      find: (tenant: TenantId, principal: Principal["Type"]) => {
        const caller = callerKey(principal)
        const key = `${tenant} ${caller}`
        const look = Effect.tap(loadMember(tenant, principal), (member) => Effect.sync(() => remember(key, member)))
        return coalesce(key, lookUps.withPermit([caller], look))
      },

      /**
       * What makes the server check the member together with the first statement of a request, if the caller had the role
       * less than a minute ago. Any other caller must be looked up before it costs its tenant anything.
       */
      guard: (tenant: TenantId, principal: Principal["Type"], role: Role) => {
        const known = knownRoles.get(`${tenant} ${callerKey(principal)}`, Date.now())
        return known !== undefined && hasRole(known, role) ? guardOf(tenant, principal, role) : undefined
      }
    }
  })
}) {}
