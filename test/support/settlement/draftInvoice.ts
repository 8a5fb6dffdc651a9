import { ContractId } from "../../../src/domain/contracting/Contract.ts"
import { BillableId } from "../../../src/domain/invoicing/Billable.ts"
import { InvoiceId } from "../../../src/domain/invoicing/Invoice.ts"
import { TaxRateId } from "../../../src/domain/taxes/TaxRate.ts"
import { at, type InvoiceAccount } from "./accounts.ts"

/** A draft of one line with a tax of 20 percent. */
export const draftInvoice = (name: string, netMinor: number): InvoiceAccount => {
  const taxRates = [TaxRateId.make("tax_1")]
  const taxMinor = netMinor / 5
  return {
    value: {
      id: InvoiceId.make(`inv_${name}`),
      contract: ContractId.make("ctr_1"),
      status: "DRAFT",
      currencyCode: "EUR",
      subtotalMinor: netMinor,
      discountMinor: 0,
      taxes: [{ taxRates, name: "VAT 20 %", percent: 20, category: "S", baseMinor: netMinor, taxMinor }],
      taxMinor,
      totalMinor: netMinor + taxMinor,
      paidMinor: 0,
      creditedMinor: 0,
      writtenOffMinor: 0,
      balanceMinor: netMinor + taxMinor,
      billableCount: 1,
      createdAt: at,
      updatedAt: at
    },
    taxSets: [{ taxRates, netMinor, lineCount: 1 }],
    credited: [],
    line: {
      id: BillableId.make(`bil_${name}`),
      quantity: 1,
      lineTotalMinor: netMinor,
      taxRates,
      creditedQuantity: "0",
      creditedMinor: 0
    }
  }
}
