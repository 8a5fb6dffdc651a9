import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { splitBilling } from "../../domain/contracting/ContractBilling.ts"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import { Contracts } from "../contracting/Contracts.ts"
import { requireExactSums } from "../infra/postgres/ExactSums.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"

/** What contracts have billed. */
export class ContractBillings extends Effect.Service<ContractBillings>()("layers/ContractBillings", {
  dependencies: [Contracts.Default],
  effect: Effect.zipWith(SqlClient.SqlClient, Contracts, (sql, contracts) => ({
    get: Effect.fnUntraced(function* (id: string) {
      const tenant = yield* CurrentTenant
      const { currencyCode, id: contract } = yield* contracts.get(id)
      const [row] = yield* requireExactSums("draftedMinor")(sql<Parameters<typeof splitBilling>[0]>`
        select billed_minor as "billedMinor", cap_minor as "capMinor", (
          select coalesce(sum(subtotal_minor - discount_minor), 0)::bigint from invoices
          where tenant_id = ${tenant} and contract_id = ${id} and status = 'DRAFT'
        ) as "draftedMinor"
        from contracts where tenant_id = ${tenant} and id = ${id}`)
      return { contract, currencyCode, ...splitBilling(row ?? { billedMinor: 0, capMinor: null, draftedMinor: 0 }) }
    })
  })).pipe(withSpans("ContractBillings"))
}) {}
