import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import {
  Contract,
  type ContractStatus,
  type contractSorts,
  type PatchContract,
  requireValidContract
} from "../../domain/contracting/Contract.ts"
import type { PageRequest } from "../../domain/Paging.ts"
import { applyPatch } from "../../domain/Schemas.ts"
import { toDefaultTaxRates } from "../../domain/taxes/TaxRate.ts"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import { byAge, byName, searchCondition } from "../infra/postgres/repository/Keyset.ts"
import type { ListQuery } from "../infra/postgres/repository/ListPageReader.ts"
import { makeResource } from "../infra/postgres/repository/Resource.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { TaxRates } from "../taxes/TaxRates.ts"

interface Filter extends ListQuery {
  readonly clientId?: string | undefined
  readonly status?: ContractStatus | undefined
}

export const contractTable = { table: "contracts", entity: Contract, relations: ["client"] }

export class Contracts extends Effect.Service<Contracts>()("layers/Contracts", {
  dependencies: [TaxRates.Default],
  effect: Effect.gen(function* () {
    const taxRates = yield* TaxRates
    const sql = yield* SqlClient.SqlClient
    const contracts = yield* makeResource({
      name: "contract",
      ...contractTable,
      clientOf: ({ client }) => client,
      sorts: { name: byName, createdAt: byAge } satisfies Record<(typeof contractSorts)[number], unknown>
    })
    return {
      ...contracts,

      list: (window: PageRequest, { clientId, q, sort, status }: Filter) =>
        Effect.flatMap(CurrentTenant, (tenant) => {
          const search = searchCondition(sql, tenant, contractTable.table, q)
          return contracts.page(window, { client: clientId, status }, search, sort)
        }),

      create: (fields: Parameters<typeof contracts.create>[0]) =>
        Effect.flatMap(requireValidContract(fields), contracts.create).pipe(
          taxRates.withDefaults(fields.defaultTaxRates)
        ),

      patch: (id: string, request: typeof PatchContract.Type) => {
        const change = toDefaultTaxRates(request)
        return contracts
          .updateWith(id, (before) => requireValidContract(applyPatch(before, change), before))
          .pipe(taxRates.withDefaults(change.defaultTaxRates))
      }
    }
  }).pipe(withSpans("Contracts"))
}) {}
