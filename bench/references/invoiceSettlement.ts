import type { Caller } from "./caller.ts"
import { newId } from "./ids.ts"
import { type InvoiceRow, toInvoice } from "./invoice.ts"
import { eventColumns } from "./invoicingStatements.ts"

/** Settles locked invoices, each with its event. Its parameters follow the `first` parameters of the statement. */
export const settlementText = (first: number) => {
  const $ = (n: number) => `$${first + n}`
  return `invoices_updated as (
      update invoices this set "status" = next."status", "paid_at" = next."paid_at", "paid_minor" = next."paid_minor",
        "credited_minor" = next."credited_minor", "written_off_minor" = next."written_off_minor",
        "updated_at" = next."updated_at", "sequence" = next."sequence"
      from json_populate_recordset(null::invoices, ${$(1)}::json) next
      where this.tenant_id = ${$(2)} and this.id = next.id and this.sequence = next.sequence - 1
      returning 1
    ), invoices_logged as (
      insert into events (${eventColumns}) select ${eventColumns}
      from json_populate_recordset(null::events, ${$(3)}::json)
      where 1 / (select (count(*) = ${$(4)})::integer from invoices_updated) = 1
    )`
}

/** What a payment or a credit note settles of an invoice. */
export interface Settlement {
  readonly invoice: InvoiceRow
  readonly paidMinor?: number
  readonly creditedMinor?: number
}

const settle = ({ creditedMinor = 0, invoice, paidMinor = 0 }: Settlement, at: string) => {
  const balanceMinor = invoice.balanceMinor - paidMinor - creditedMinor
  const isPaid = balanceMinor === 0
  const next: InvoiceRow = {
    ...invoice,
    status: isPaid ? "PAID" : "FINALIZED",
    paidMinor: invoice.paidMinor + paidMinor,
    creditedMinor: invoice.creditedMinor + creditedMinor,
    balanceMinor,
    paidAt: isPaid ? (invoice.paidAt ?? at) : null,
    updatedAt: new Date().toISOString(),
    sequence: invoice.sequence + 1
  }
  return { next, type: isPaid && paidMinor > 0 ? "invoice.paid" : "invoice.updated" }
}

const toSettledColumns = (invoice: InvoiceRow) => ({
  id: invoice.id,
  status: invoice.status,
  paid_at: invoice.paidAt,
  paid_minor: invoice.paidMinor,
  credited_minor: invoice.creditedMinor,
  written_off_minor: invoice.writtenOffMinor,
  updated_at: invoice.updatedAt,
  sequence: invoice.sequence
})

const makeEvent = ({ subject, tenant }: Caller, client: string, type: string, invoice: InvoiceRow) => ({
  tenant_id: tenant,
  id: newId("evt"),
  type,
  resource_id: invoice.id,
  client_id: client,
  sequence: invoice.sequence,
  occurred_at: invoice.updatedAt,
  created_by: subject,
  data: toInvoice(invoice)
})

/** The values of `settlementText`. */
export const toSettlementValues = (
  caller: Caller,
  client: string,
  settlements: ReadonlyArray<Settlement>,
  at: string
) => {
  const settled = settlements.map((settlement) => settle(settlement, at))
  const rows = settled.map(({ next }) => toSettledColumns(next))
  const events = settled.map(({ next, type }) => makeEvent(caller, client, type, next))
  return [JSON.stringify(rows), caller.tenant, JSON.stringify(events), settled.length]
}
