import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { prefixOf } from "../../domain/Ids.ts"
import { defaultTimeZone } from "../../domain/locale/TimeZone.ts"
import type { PageRequest } from "../../domain/Paging.ts"
import { toDefaultTaxRates } from "../../domain/taxes/TaxRate.ts"
import { CurrentTenant, Principal } from "../../domain/tenancy/RequestContext.ts"
import { type CreateTenant, type PatchTenant, Tenant, TenantId } from "../../domain/tenancy/Tenant.ts"
import { inTransaction } from "../infra/postgres/connection/Transactions.ts"
import { makeId } from "../infra/postgres/IdGenerator.ts"
import { makeResource } from "../infra/postgres/repository/Resource.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { Quotas } from "../quotas/Quotas.ts"
import { TaxRates } from "../taxes/TaxRates.ts"
import { Members } from "./Members.ts"

export class Tenants extends Effect.Service<Tenants>()("layers/Tenants", {
  dependencies: [Members.Default, Quotas.Default, TaxRates.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const members = yield* Members
    const quotas = yield* Quotas
    const taxRates = yield* TaxRates
    const tenants = yield* makeResource({
      name: "tenant",
      table: "tenants",
      entity: Tenant,
      tenantColumn: "id",
      visible: "this.deleted_at is null",
      deleteSql: "update tenants this set deleted_at = now(), sequence = this.sequence + 1"
    })

    return {
      ...tenants,

      /** Creates a tenant with the caller as its first OWNER. */
      create: (fields: typeof CreateTenant.Type) =>
        Effect.suspend(() => {
          const id = makeId(prefixOf(TenantId))
          return quotas.requireOwnedTenantQuota.pipe(
            Effect.zipRight(tenants.create({ timeZone: defaultTimeZone, ...fields, media: [] }, { id })),
            Effect.zipLeft(members.createFirstOwner),
            Effect.provideService(CurrentTenant, TenantId.make(id)),
            inTransaction(sql)
          )
        }),

      patch: (id: string, request: typeof PatchTenant.Type) => {
        const change = toDefaultTaxRates(request)
        return tenants.patch(id, change).pipe(taxRates.withDefaults(change.defaultTaxRates))
      },

      /** The tenants the caller is a member of, in order of creation. */
      listForCaller: ({ after, limit }: PageRequest) =>
        Effect.flatMap(Principal, ({ issuer, subject }) =>
          tenants.select(sql`
            members m join tenants this on this.id = m.tenant_id and this.deleted_at is null
            where m.issuer = ${issuer} and m.subject = ${subject} and this.id > ${after?.id ?? ""}
            order by this.id limit ${limit + 1}`)
        )
    }
  }).pipe(withSpans("Tenants"))
}) {}
