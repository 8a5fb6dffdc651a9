import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { breaks, Forbidden } from "../../domain/Errors.ts"
import { CurrentMember, CurrentTenant, Principal } from "../../domain/tenancy/Caller.ts"
import { type CreateMember, Member, type MemberId } from "../../domain/tenancy/Member.ts"
import { mayActAs, type Role } from "../../domain/tenancy/Roles.ts"
import { atomically } from "../postgres/connection/Transaction.ts"
import { resource } from "../postgres/repository/Resource.ts"
import { Quotas } from "../quotas/Quotas.ts"

const lastOwner = breaks("role", "state", "is the last OWNER of the tenant; make someone else an OWNER first")

export class Members extends Effect.Service<Members>()("layers/Members", {
  dependencies: [Quotas.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const quotas = yield* Quotas
    const members = yield* resource({ name: "member", table: "members", entity: Member })

    /** One decision about a tenant's members at a time, so that two owners cannot step down past each other. */
    const oneAtATime = <A, E, R>(decision: Effect.Effect<A, E, R>) =>
      Effect.flatMap(CurrentTenant, (tenant) =>
        sql<object>`select 1 from tenants where id = ${tenant} and deleted_at is null for no key update`.pipe(
          Effect.filterOrFail(
            (rows) => rows.length === 1,
            () => new Forbidden()
          ),
          Effect.zipRight(decision)
        )
      ).pipe(atomically(sql))

    const ownerCount = Effect.flatMap(CurrentTenant, (tenant) =>
      Effect.orDie(sql<object>`select 1 from members where tenant_id = ${tenant} and role = 'OWNER'`)
    ).pipe(Effect.map((rows) => rows.length))

    /** The caller's role as it is now, under the lock; it may have changed since the request was let in. */
    const actor = Effect.flatMap(CurrentMember, ({ id }) => members.get(id)).pipe(
      Effect.catchTag("NotFound", () => Effect.fail(new Forbidden()))
    )

    /** Only an OWNER may give the role of OWNER or touch one who has it. */
    const mayTouch = (acting: Role, ...touched: ReadonlyArray<Role>) =>
      mayActAs(acting, touched.includes("OWNER") ? "OWNER" : "ADMIN")

    const keepsAnOwner = (before: Role, after: Role | undefined) =>
      before === "OWNER" && after !== "OWNER"
        ? Effect.filterOrFail(
            ownerCount,
            (owners) => owners > 1,
            () => lastOwner
          )
        : Effect.void

    return {
      ...members,

      create: (fields: typeof CreateMember.Type) =>
        oneAtATime(
          Effect.gen(function* () {
            const { role } = yield* actor
            if (!mayTouch(role, fields.role)) return yield* Effect.fail(new Forbidden())
            yield* quotas.requireRoom("members", "subject")
            const { issuer } = yield* Principal
            return yield* members.create({ issuer, ...fields })
          })
        ),

      /** The first member of a new tenant, whom nobody could let in. */
      found: Effect.flatMap(Principal, ({ issuer, subject }) => members.create({ issuer, subject, role: "OWNER" })),

      patch: (id: MemberId, { role }: { readonly role?: Role }) =>
        oneAtATime(
          Effect.flatMap(actor, (acting) =>
            members.revise(id, (member) =>
              Effect.gen(function* () {
                const next = role ?? member.role
                if (!mayTouch(acting.role, member.role, next)) return yield* Effect.fail(new Forbidden())
                yield* keepsAnOwner(member.role, next)
                return { ...member, role: next }
              })
            )
          )
        ),

      /** Whoever manages members may remove one, and everybody may leave. */
      remove: (id: MemberId) =>
        oneAtATime(
          Effect.gen(function* () {
            const acting = yield* actor
            const member = yield* members.get(id)
            if (acting.id !== id && !mayTouch(acting.role, member.role)) return yield* Effect.fail(new Forbidden())
            yield* keepsAnOwner(member.role, undefined)
            yield* members.remove(id)
          })
        )
    }
  })
}) {}
