import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { ClientId } from "../../domain/contracting/Client.ts"
import type { BilledContract } from "../../domain/contracting/ContractCap.ts"
import type { TaxSet } from "../../domain/invoicing/draft/TaxSets.ts"
import type { Invoice } from "../../domain/invoicing/Invoice.ts"
import type { TaxRateId } from "../../domain/taxes/TaxRate.ts"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import type { Versioned } from "../infra/postgres/repository/ResourceSpec.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { Invoices } from "./Invoices.ts"

/** The fields of a locked contract that invoicing needs. */
export interface LockedContract extends BilledContract {
  readonly client: ClientId
  readonly paymentTermDays: number
  /** The default tax rates of the contract, or else of the tenant. */
  readonly defaultTaxRates: ReadonlyArray<TaxRateId> | null
}

/** An invoice and its contract, both locked. */
export interface LockedInvoice {
  readonly contract: LockedContract
  readonly invoice: Versioned<Invoice>
  /** The sums of the invoice's lines with taxes. */
  readonly taxSets: ReadonlyArray<TaxSet>
}

/**
 * Locks what the cap of a contract depends on. Every change of an invoice's total locks the contract first and the invoice
 * second. The fixed order prevents deadlocks. Triggers move the billed amount of the contract.
 */
export class ContractCap extends Effect.Service<ContractCap>()("layers/ContractCap", {
  dependencies: [Invoices.Default],
  effect: Effect.zipWith(SqlClient.SqlClient, Invoices, (sql, invoices) => ({
    /** Locks the contract of an invoice, then the invoice, until the transaction ends. */
    lockContractAndInvoice: (id: string) =>
      Effect.flatMap(CurrentTenant, (tenant) => {
        const contract = sql`
          select id, client_id as client, currency_code as "currencyCode", payment_term_days as "paymentTermDays",
            cap_minor as "capMinor", billed_minor as "billedMinor",
            coalesce(default_tax_rates, (select default_tax_rates from tenants where id = ${tenant})) as "defaultTaxRates"
          from contracts where tenant_id = ${tenant}
            and id = (select contract_id from invoices where tenant_id = ${tenant} and id = ${id})
          for no key update`
        return invoices.lockForUpdateAfter<LockedContract, ReadonlyArray<TaxSet>>(contract, id, "tax_sets")
      }).pipe(
        Effect.map(
          ({ first, hidden, locked }) => ({ contract: first, invoice: locked, taxSets: hidden }) satisfies LockedInvoice
        )
      )
  })).pipe(withSpans("ContractCap"))
}) {}
