import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { breaks } from "../../domain/Errors.ts"
import type { Invoice } from "../../domain/invoicing/Invoice.ts"
import { majorText, sum } from "../../domain/money/Money.ts"
import { CurrentTenant } from "../../domain/tenancy/Caller.ts"
import type { Versioned } from "../postgres/repository/ResourceSpec.ts"
import { Invoices } from "./Invoices.ts"

/** What invoicing needs to know of a contract while it holds it. */
export interface HeldContract {
  readonly id: string
  readonly client: string
  readonly currencyCode: string
  readonly paymentTermDays: number
  readonly capMinor: number | null
  readonly billedMinor: number
}

/** An invoice and its contract, both held. */
export interface Held {
  readonly contract: HeldContract
  readonly invoice: Versioned<Invoice>
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
  dependencies: [Invoices.Default],
  effect: Effect.zipWith(SqlClient.SqlClient, Invoices, (sql, invoices) => ({
    /** An invoice and its contract, held against everybody else until the transaction ends. */
    hold: (id: string) =>
      Effect.flatMap(CurrentTenant, (tenant) => {
        const contract = sql`
          select id, client_id as client, currency_code as "currencyCode", payment_term_days as "paymentTermDays",
            cap_minor as "capMinor", billed_minor as "billedMinor"
          from contracts where tenant_id = ${tenant}
            and id = (select contract_id from invoices where tenant_id = ${tenant} and id = ${id})
          for no key update`
        return invoices.heldAfter<HeldContract>(contract, id)
      }).pipe(Effect.map(({ first, held }) => ({ contract: first, invoice: held }) satisfies Held)),

    /**
     * What bills more or less under a contract that is held, as parts of another change. Less is always welcome; `field`
     * is blamed for too much.
     */
    billing: Effect.fnUntraced(function* (contract: HeldContract, changes: ReadonlyArray<number>, field: string) {
      const tenant = yield* CurrentTenant
      const { billedMinor, capMinor } = contract
      const total = sum(billedMinor, ...changes)
      if (total === billedMinor) return []
      if (total === undefined || (total > billedMinor && total > (capMinor ?? total)))
        return yield* Effect.fail(beyond(field, contract, total))
      return [
        sql`billed as (
          update contracts set billed_minor = ${total} where tenant_id = ${tenant} and id = ${contract.id})`
      ]
    })
  }))
}) {}
