import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { breaks, NotFound } from "../../../domain/Errors.ts"
import { majorText, sum } from "../../../domain/money/Money.ts"
import { CurrentTenant } from "../../../domain/tenancy/Caller.ts"

/** What invoicing needs to know of a contract while it holds it. */
export interface HeldContract {
  readonly id: string
  readonly client: string
  readonly currencyCode: string
  readonly paymentTermDays: number
  readonly capMinor: number | null
  readonly billedMinor: number
}

const beyond = (field: string, { capMinor, currencyCode, id }: HeldContract, total: number | undefined) => {
  const amount = (minor: number) => `${majorText(minor, currencyCode)} ${currencyCode}`
  const cap = capMinor === null ? "what can be told exactly" : `its capMinor, ${amount(capMinor)}`
  const billed = total === undefined ? "more" : amount(total)
  return breaks(field, "max", `would bill ${billed} under contract ${id}, beyond ${cap}`)
}

/**
 * Keeps what is billed under a contract within its cap. Whoever changes what an invoice comes to holds the contract's
 * row first and the invoice's second, always in this order, so that nobody waits in a circle.
 */
export class ContractGuard extends Effect.Service<ContractGuard>()("layers/ContractGuard", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => ({
    /** The contract of an invoice, held against everybody else until the transaction ends. */
    holdOf: (invoice: string) =>
      Effect.flatMap(CurrentTenant, (tenant) =>
        Effect.orDie(sql<HeldContract>`
          select id, client_id as client, currency_code as "currencyCode", payment_term_days as "paymentTermDays",
            cap_minor as "capMinor", billed_minor as "billedMinor"
          from contracts where tenant_id = ${tenant}
            and id = (select contract_id from invoices where tenant_id = ${tenant} and id = ${invoice})
          for no key update`)
      ).pipe(
        Effect.flatMap(([contract]) =>
          contract === undefined ? Effect.fail(new NotFound()) : Effect.succeed(contract)
        )
      ),

    /** Bills more or less under a contract that is held. Less is always welcome; `field` is blamed for too much. */
    bill: Effect.fnUntraced(function* (contract: HeldContract, changes: ReadonlyArray<number>, field: string) {
      const tenant = yield* CurrentTenant
      const { billedMinor, capMinor } = contract
      const total = sum(billedMinor, ...changes)
      if (total === billedMinor) return
      if (total === undefined || (total > billedMinor && total > (capMinor ?? total)))
        return yield* Effect.fail(beyond(field, contract, total))
      yield* Effect.orDie(sql`
        update contracts set billed_minor = ${total} where tenant_id = ${tenant} and id = ${contract.id}`)
    })
  }))
}) {}
