import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { ClientBalance } from "../../domain/payments/ClientBalance.ts"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import { Clients } from "../contracting/Clients.ts"
import { requireExactSums } from "../infra/postgres/ExactSums.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"

/** What clients owe, and what they have paid in advance. */
export class ClientBalances extends Effect.Service<ClientBalances>()("layers/ClientBalances", {
  dependencies: [Clients.Default],
  effect: Effect.zipWith(SqlClient.SqlClient, Clients, (sql, clients) => ({
    /** The balances of a client by currency, in the order of their codes. */
    get: Effect.fnUntraced(function* (id: string) {
      const tenant = yield* CurrentTenant
      const client = yield* clients.get(id)
      const balances = yield* requireExactSums("balances")(sql<(typeof ClientBalance.Type)["balances"][number]>`
        select currency_code as "currencyCode", sum(open)::bigint as "openMinor",
          sum(overdue)::bigint as "overdueMinor", sum(unused)::bigint as "unusedMinor"
        from (
          select currency_code, total_minor - paid_minor - credited_minor - written_off_minor as open,
            case when due_at < now() then total_minor - paid_minor - credited_minor - written_off_minor else 0 end as overdue,
            0 as unused
          from invoices where tenant_id = ${tenant} and client_id = ${id} and status = 'FINALIZED'
          union all
          select currency_code, 0, 0, unallocated_minor from payments
          where tenant_id = ${tenant} and client_id = ${id} and unallocated_minor > 0
          union all
          select currency_code, 0, 0, unallocated_minor from credit_notes
          where tenant_id = ${tenant} and client_id = ${id} and unallocated_minor > 0
        ) amounts group by currency_code order by currency_code`)
      return { client: client.id, balances }
    })
  })).pipe(withSpans("ClientBalances"))
}) {}
