import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { fieldError } from "../../domain/Errors.ts"
import type { Invoice } from "../../domain/invoicing/Invoice.ts"
import { formatAmount, sumMinor } from "../../domain/money/Money.ts"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import type { Versioned } from "../postgres/repository/ResourceSpec.ts"
import { Invoices } from "./Invoices.ts"

/** The fields of a locked contract that invoicing needs. */
export interface LockedContract {
  readonly id: string
  readonly client: string
  readonly currencyCode: string
  readonly paymentTermDays: number
  readonly capMinor: number | null
  readonly billedMinor: number
}

/** An invoice and its contract, both locked. */
export interface LockedInvoice {
  readonly contract: LockedContract
  readonly invoice: Versioned<Invoice>
}

const capExceeded = (field: string, { capMinor, currencyCode, id }: LockedContract, total: number | undefined) => {
  const amount = (minor: number) => `${formatAmount(minor, currencyCode)} ${currencyCode}`
  const cap = capMinor === null ? "what can be told exactly" : `its capMinor, ${amount(capMinor)}`
  const billed = total === undefined ? "more" : amount(total)
  return fieldError(field, "max", `would bill ${billed} under contract ${id}, beyond ${cap}`)
}

/**
 * Enforces the cap of a contract. Every change of an invoice's total locks the contract first and the invoice second.
 * The fixed order prevents deadlocks.
 */
export class ContractCap extends Effect.Service<ContractCap>()("layers/ContractCap", {
  dependencies: [Invoices.Default],
  effect: Effect.zipWith(SqlClient.SqlClient, Invoices, (sql, invoices) => ({
    /** Locks the contract of an invoice, then the invoice, until the transaction ends. */
    lockContractAndInvoice: (id: string) =>
      Effect.flatMap(CurrentTenant, (tenant) => {
        const contract = sql`
          select id, client_id as client, currency_code as "currencyCode", payment_term_days as "paymentTermDays",
            cap_minor as "capMinor", billed_minor as "billedMinor"
          from contracts where tenant_id = ${tenant}
            and id = (select contract_id from invoices where tenant_id = ${tenant} and id = ${id})
          for no key update`
        return invoices.lockForUpdateAfter<LockedContract>(contract, id)
      }).pipe(Effect.map(({ first, locked }) => ({ contract: first, invoice: locked }) satisfies LockedInvoice)),

    /**
     * Builds the CTEs that add `changes` to the billed amount of a locked contract. An amount beyond the cap fails with
     * an error on `field`. A decrease is allowed even above the cap.
     */
    buildBilledUpdate: Effect.fnUntraced(function* (
      contract: LockedContract,
      changes: ReadonlyArray<number>,
      field: string
    ) {
      const tenant = yield* CurrentTenant
      const { billedMinor, capMinor } = contract
      const total = sumMinor(billedMinor, ...changes)
      if (total === billedMinor) return []
      if (total === undefined || (total > billedMinor && total > (capMinor ?? total)))
        return yield* Effect.fail(capExceeded(field, contract, total))
      return [
        sql`billed as (
          update contracts set billed_minor = ${total} where tenant_id = ${tenant} and id = ${contract.id})`
      ]
    })
  }))
}) {}
