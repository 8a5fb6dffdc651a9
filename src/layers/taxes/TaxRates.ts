import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { fieldError, requireNoErrors } from "../../domain/Errors.ts"
import { applyPatch, type Patch } from "../../domain/Schemas.ts"
import { requireActiveTaxRate, requireValidTaxRate, TaxRate, taxReferenceErrors } from "../../domain/taxes/TaxRate.ts"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import { inTransaction } from "../infra/postgres/connection/Transactions.ts"
import { makeResource } from "../infra/postgres/repository/Resource.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { Quotas } from "../quotas/Quotas.ts"

type Rates = ReadonlyMap<string, TaxRate>

const noRates: Rates = new Map()

/** Repository of tax rates. A rate is never deleted, because invoices refer to it. */
export class TaxRates extends Effect.Service<TaxRates>()("layers/TaxRates", {
  dependencies: [Quotas.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const quotas = yield* Quotas
    const { create, get, lockForWrite, page, pageByAge, select, updateLocked, updateWith } = yield* makeResource({
      name: "tax_rate",
      table: "tax_rates",
      entity: TaxRate
    })

    const findAll = Effect.fnUntraced(function* (ids: ReadonlyArray<string>, lock: "" | "for share of this") {
      if (ids.length === 0) return noRates
      const tenant = yield* CurrentTenant
      const list = JSON.stringify([...new Set(ids)])
      const found = yield* select(sql`tax_rates this
        where this.tenant_id = ${tenant} and this.id in (select json_array_elements_text(${list}::json))
        ${sql.literal(lock)}`)
      return new Map(found.map((rate) => [rate.id, rate]))
    })

    /** Fails while the rate is a default. The lock on the rate keeps others from making it one. */
    const requireNoDefault = Effect.fnUntraced(function* (id: string) {
      const tenant = yield* CurrentTenant
      const used = JSON.stringify([id])
      const [users] = yield* Effect.orDie(sql<{ tenants: number; contracts: number }>`
        select (select count(*)::integer from tenants where id = ${tenant} and default_tax_rates @> ${used}::jsonb) as tenants,
          (select count(*)::integer from contracts
            where tenant_id = ${tenant} and default_tax_rates @> ${used}::jsonb) as contracts`)
      const { contracts = 0, tenants = 0 } = users ?? {}
      if (tenants + contracts === 0) return undefined
      const names = [
        ...(tenants === 0 ? [] : ["the tenant"]),
        ...(contracts === 0 ? [] : [contracts === 1 ? "1 contract" : `${contracts} contracts`])
      ]
      return yield* Effect.fail(fieldError("id", "inUse", `is still a default of ${names.join(" and ")}`))
    })

    return {
      get,
      page,
      pageByAge,

      create: (fields: Parameters<typeof create>[0]) =>
        Effect.zipRight(
          Effect.zipRight(requireValidTaxRate(fields), quotas.requireTenantQuota("taxRates", "name")),
          create(fields)
        ).pipe(inTransaction(sql)),

      patch: (id: string, change: Patch<TaxRate>) =>
        updateWith(id, (rate) => requireValidTaxRate(applyPatch(rate, change))),

      archive: (id: string) =>
        Effect.gen(function* () {
          const current = yield* lockForWrite(id)
          yield* requireActiveTaxRate(current.value)
          yield* requireNoDefault(id)
          const next = { ...current.value, archivedAt: new Date().toISOString() }
          return yield* updateLocked(current, "archived", next, { commit: true })
        }).pipe(inTransaction(sql)),

      /** The rates with these identifiers, archived ones included. Their percentage and category never change. */
      findAll: (ids: ReadonlyArray<string>) => findAll(ids, ""),

      /**
       * Runs a write that sets these default rates, if any. Fails unless all of them can be used. Until the write is
       * committed, nobody can archive them.
       */
      withDefaults:
        (ids: ReadonlyArray<string> | null | undefined) =>
        <A, E, R>(write: Effect.Effect<A, E, R>) =>
          ids === undefined || ids === null || ids.length === 0
            ? write
            : findAll(ids, "for share of this").pipe(
                Effect.flatMap((rates) => requireNoErrors(taxReferenceErrors(ids, rates, "defaultTaxRateIds"))),
                Effect.zipRight(write),
                inTransaction(sql)
              )
    }
  }).pipe(withSpans("TaxRates"))
}) {}
