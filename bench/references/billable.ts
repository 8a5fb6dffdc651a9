import type { Caller } from "./caller.ts"
import { newId } from "./ids.ts"

export interface NewLine {
  readonly name: string
  readonly quantity?: number
  readonly amountMinor: number
  readonly currencyCode?: string
  readonly referenceType?: string
  readonly referenceId?: string
  readonly description?: string
  readonly metadata?: Readonly<Record<string, string>>
  readonly order?: number
}

export interface NewLines {
  readonly invoiceId: string
  readonly billables: ReadonlyArray<NewLine>
}

interface LineTerms {
  readonly invoice: string
  readonly quantity: number
  readonly currencyCode: string
  readonly lineTotalMinor: number
}

export const makeBillable = (
  line: NewLine,
  { currencyCode, invoice, lineTotalMinor, quantity }: LineTerms,
  at: string
) => ({
  id: newId("bil"),
  invoice,
  name: line.name,
  quantity,
  amountMinor: line.amountMinor,
  currencyCode,
  ...(line.referenceType === undefined ? {} : { referenceType: line.referenceType }),
  ...(line.referenceId === undefined ? {} : { referenceId: line.referenceId }),
  ...(line.description === undefined ? {} : { description: line.description }),
  ...(line.metadata === undefined ? {} : { metadata: line.metadata }),
  ...(line.order === undefined ? {} : { order: line.order }),
  taxRates: [],
  discountMinor: 0,
  lineTotalMinor,
  createdAt: at,
  updatedAt: at
})

export type Billable = ReturnType<typeof makeBillable>

export const toBillableRow = (tenant: string, line: Billable) => ({
  tenant_id: tenant,
  id: line.id,
  invoice_id: line.invoice,
  name: line.name,
  quantity: line.quantity,
  amount_minor: line.amountMinor,
  currency_code: line.currencyCode,
  reference_type: line.referenceType,
  reference_id: line.referenceId,
  description: line.description,
  metadata: line.metadata,
  order: line.order,
  tax_rates: line.taxRates,
  discount_minor: line.discountMinor,
  line_total_minor: line.lineTotalMinor,
  created_at: line.createdAt,
  updated_at: line.updatedAt,
  sequence: 1
})

export const makeBillableEvent = ({ subject, tenant }: Caller, client: string, line: Billable) => ({
  tenant_id: tenant,
  id: newId("evt"),
  type: "billable.created",
  resource_id: line.id,
  client_id: client,
  sequence: 1,
  occurred_at: line.createdAt,
  created_by: subject,
  trace_parent: null,
  data: line
})
