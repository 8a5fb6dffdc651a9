import * as SqlClient from "@effect/sql/SqlClient"
import { Duration, Effect } from "effect"
import type { ServiceUnavailable, TooManyRequests } from "../../domain/Errors.ts"
import { type CurrentMember, callerKey, type Principal } from "../../domain/tenancy/RequestContext.ts"
import type { TenantId } from "../../domain/tenancy/Tenant.ts"
import { standingRequests } from "../concurrency/FairQueues.ts"
import { makeFairSemaphore } from "../concurrency/FairSemaphore.ts"
import { makeToRequestError } from "../concurrency/RequestRejection.ts"
import { makeCoalescer } from "./Coalescer.ts"

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

/** Looks up members without a cache. A deleted tenant has no members. */
export class Memberships extends Effect.Service<Memberships>()("layers/Memberships", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const coalesce = makeCoalescer<Member | undefined, ServiceUnavailable | TooManyRequests>()
    const lookUps = makeFairSemaphore(lookUpLimits, makeToRequestError("members"))

    const loadMember = (tenant: TenantId, { issuer, subject }: Principal["Type"]) =>
      sql<Member>`
        select m.id, m.role from members m join tenants t on t.id = m.tenant_id and t.deleted_at is null
        where m.tenant_id = ${tenant} and m.issuer = ${issuer} and m.subject = ${subject}`.pipe(
        Effect.orDie,
        Effect.map((rows) => rows[0])
      )

    return {
      find: (tenant: TenantId, principal: Principal["Type"]) => {
        const caller = callerKey(principal)
        return coalesce(`${tenant} ${caller}`, lookUps.withPermit([caller], loadMember(tenant, principal)))
      }
    }
  })
}) {}
