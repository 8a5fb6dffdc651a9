import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { Forbidden } from "../../domain/Errors.ts"
import { type CreateMember, Member, type MemberId } from "../../domain/tenancy/Member.ts"
import { losesOwner, requireCanManage, requireOtherOwner } from "../../domain/tenancy/MemberRules.ts"
import { CurrentMember, CurrentTenant, Principal } from "../../domain/tenancy/RequestContext.ts"
import type { Role } from "../../domain/tenancy/Roles.ts"
import { inTransaction } from "../infra/postgres/connection/Transactions.ts"
import { makeResource } from "../infra/postgres/repository/Resource.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { Quotas } from "../quotas/Quotas.ts"

export class Members extends Effect.Service<Members>()("layers/Members", {
  dependencies: [Quotas.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const quotas = yield* Quotas
    const members = yield* makeResource({ name: "member", table: "members", entity: Member })

    /** Locks the tenant, so that two owners who leave at the same time cannot leave it without an OWNER. */
    const withTenantLock = <A, E, R>(work: Effect.Effect<A, E, R>) =>
      Effect.flatMap(CurrentTenant, (tenant) =>
        sql<object>`select 1 from tenants where id = ${tenant} and deleted_at is null for no key update`.pipe(
          Effect.filterOrFail(
            (rows) => rows.length === 1,
            () => new Forbidden()
          ),
          Effect.zipRight(work)
        )
      ).pipe(inTransaction(sql))

    const countOwners = Effect.flatMap(CurrentTenant, (tenant) =>
      Effect.orDie(sql<object>`select 1 from members where tenant_id = ${tenant} and role = 'OWNER'`)
    ).pipe(Effect.map((rows) => rows.length))

    /** The caller's role under the lock. It may have changed since the request was authorized. */
    const loadActor = Effect.flatMap(CurrentMember, ({ id }) => members.get(id)).pipe(
      Effect.catchTag("NotFound", () => Effect.fail(new Forbidden()))
    )

    const requireRemainingOwner = (before: Role, after: Role | undefined) =>
      losesOwner(before, after) ? Effect.flatMap(countOwners, requireOtherOwner) : Effect.void

    return {
      ...members,

      create: (fields: typeof CreateMember.Type) =>
        withTenantLock(
          Effect.gen(function* () {
            const { role } = yield* loadActor
            yield* requireCanManage(role, fields.role)
            yield* quotas.requireTenantQuota("members", "subject")
            const { issuer } = yield* Principal
            return yield* members.create({ issuer, ...fields })
          })
        ),

      /** Creates the first member of a new tenant, without a check of the caller's role. */
      createFirstOwner: Effect.flatMap(Principal, ({ issuer, subject }) =>
        members.create({ issuer, subject, role: "OWNER" })
      ),

      patch: (id: MemberId, { role }: { readonly role?: Role }) =>
        withTenantLock(
          Effect.flatMap(loadActor, (actor) =>
            members.updateWith(id, (member) =>
              Effect.gen(function* () {
                const next = role ?? member.role
                yield* requireCanManage(actor.role, member.role, next)
                yield* requireRemainingOwner(member.role, next)
                return { ...member, role: next }
              })
            )
          )
        ),

      /** Members who may manage the role can remove a member, and every member can leave. */
      remove: (id: MemberId) =>
        withTenantLock(
          Effect.gen(function* () {
            const actor = yield* loadActor
            const member = yield* members.get(id)
            if (actor.id !== id) yield* requireCanManage(actor.role, member.role)
            yield* requireRemainingOwner(member.role, undefined)
            yield* members.remove(id)
          })
        )
    }
  }).pipe(withSpans("Members"))
}) {}
