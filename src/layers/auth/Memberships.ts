import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { CurrentMember, Principal } from "../../domain/tenancy/Caller.ts"
import type { TenantId } from "../../domain/tenancy/Tenant.ts"

/** Who belongs to which tenant, as the database says at this moment. A deleted tenant has no members. */
export class Memberships extends Effect.Service<Memberships>()("layers/Memberships", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => ({
    find: (tenant: TenantId, { issuer, subject }: Principal["Type"]) =>
      sql<CurrentMember["Type"]>`
        select m.id, m.role from members m join tenants t on t.id = m.tenant_id and t.deleted_at is null
        where m.tenant_id = ${tenant} and m.issuer = ${issuer} and m.subject = ${subject}`.pipe(
        Effect.orDie,
        Effect.map((rows) => rows[0])
      )
  }))
}) {}
