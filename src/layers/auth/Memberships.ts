import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { CurrentMember, Principal } from "../../domain/tenancy/Caller.ts"
import type { TenantId } from "../../domain/tenancy/Tenant.ts"
import { sharingAnswers } from "./SharedAnswers.ts"

type Member = CurrentMember["Type"]

/** Who belongs to which tenant, as the database says at this moment. A deleted tenant has no members. */
export class Memberships extends Effect.Service<Memberships>()("layers/Memberships", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => {
    const share = sharingAnswers<Member | undefined, never>()

    const ask = (tenant: TenantId, { issuer, subject }: Principal["Type"]) =>
      sql<Member>`
        select m.id, m.role from members m join tenants t on t.id = m.tenant_id and t.deleted_at is null
        where m.tenant_id = ${tenant} and m.issuer = ${issuer} and m.subject = ${subject}`.pipe(
        Effect.orDie,
        Effect.map((rows) => rows[0])
      )

    return {
      find: (tenant: TenantId, principal: Principal["Type"]) =>
        share(JSON.stringify([tenant, principal.issuer, principal.subject]), ask(tenant, principal))
    }
  })
}) {}
