import * as SqlClient from "@effect/sql/SqlClient"
import { Duration, Effect } from "effect"
import type { ServiceUnavailable, TooManyRequests } from "../../domain/Errors.ts"
import { type CurrentMember, callerKey, type Principal } from "../../domain/tenancy/Caller.ts"
import type { TenantId } from "../../domain/tenancy/Tenant.ts"
import { makeFairSemaphore } from "../concurrency/FairSemaphore.ts"
import { toRequestError } from "../concurrency/RequestRefusal.ts"
import { sharingAnswers } from "./SharedAnswers.ts"

type Member = CurrentMember["Type"]

/** What is looked up before admission has connections of its own, so that requests at work do not delay it. */
export const gateConnections = 2

/** Before a caller is known to belong to a tenant, asking is charged to the caller alone. */
const lookUpLimits = {
  permits: 2 * gateConnections,
  maxPerKey: gateConnections,
  maxQueuedPerKey: 64,
  maxQueued: 1024,
  timeout: Duration.seconds(5)
}

/** Who belongs to which tenant, as the database says at this moment. A deleted tenant has no members. */
export class Memberships extends Effect.Service<Memberships>()("layers/Memberships", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const share = sharingAnswers<Member | undefined, ServiceUnavailable | TooManyRequests>()
    const lookUps = makeFairSemaphore(lookUpLimits, toRequestError)

    const ask = (tenant: TenantId, { issuer, subject }: Principal["Type"]) =>
      sql<Member>`
        select m.id, m.role from members m join tenants t on t.id = m.tenant_id and t.deleted_at is null
        where m.tenant_id = ${tenant} and m.issuer = ${issuer} and m.subject = ${subject}`.pipe(
        Effect.orDie,
        Effect.map((rows) => rows[0])
      )

    return {
      find: (tenant: TenantId, principal: Principal["Type"]) => {
        const caller = callerKey(principal)
        return share(`${tenant} ${caller}`, lookUps.withPermit([caller], ask(tenant, principal)))
      }
    }
  })
}) {}
