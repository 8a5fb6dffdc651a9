import { newId } from "./ids.ts"
import { type InvoiceRow, invoiceOf } from "./invoice.ts"
import { billContract, changeInvoice, holdContract, holdInvoice } from "./invoicingStatements.ts"
import { sum } from "./money.ts"
import { broken } from "./refused.ts"
import type { Connection } from "./transaction.ts"

interface HeldContract {
  readonly id: string
  readonly client: string
  readonly currencyCode: string
  readonly paymentTermDays: number
  readonly capMinor: number | null
  readonly billedMinor: number
}

/** A contract and an invoice of it, held in this order until the transaction ends; undefined when there is none. */
export const hold = async (connection: Connection, tenant: string, id: string) => {
  const { rows: contracts } = await connection.query<HeldContract>({ ...holdContract, values: [tenant, tenant, id] })
  if (contracts[0] === undefined) return undefined
  const { rows: invoices } = await connection.query<InvoiceRow>({ ...holdInvoice, values: [tenant, id] })
  return invoices[0] === undefined ? undefined : { contract: contracts[0], invoice: invoices[0] }
}

/** Bills more or less under a contract that is held, within its cap. */
export const bill = async (
  connection: Connection,
  tenant: string,
  { billedMinor, capMinor, id }: HeldContract,
  changes: ReadonlyArray<number>
) => {
  const total = sum(billedMinor, ...changes)
  if (total === billedMinor) return
  if (total === undefined || (total > billedMinor && total > (capMinor ?? total)))
    throw broken(`would bill more under contract ${id} than its cap`)
  await connection.query({ ...billContract, values: [total, tenant, id] })
}

/** The values of the statement that stores a changed invoice and its event. */
const storing = (tenant: string, invoice: InvoiceRow, seen: number, type: string, data: object) => {
  const { contract, createdAt, currencyCode, id, sequence, status, updatedAt } = invoice
  const { billableCount, dueAt, invoiceNumber, issuedAt, paidAt, subtotalMinor, totalMinor } = invoice
  return [
    ...[id, contract, status, invoiceNumber, currencyCode, subtotalMinor, totalMinor, billableCount],
    ...[issuedAt, dueAt, paidAt, createdAt, updatedAt, sequence],
    ...[tenant, id, seen],
    ...[tenant, newId("evt"), type, id, tenant, contract, sequence, updatedAt, JSON.stringify(data)]
  ]
}

/** Sets fields of an invoice that is held. */
export const rewrite = async (
  connection: Connection,
  tenant: string,
  seen: InvoiceRow,
  type: string,
  sets: Partial<InvoiceRow>
) => {
  const next = { ...seen, ...sets, updatedAt: new Date().toISOString(), sequence: seen.sequence + 1 }
  const shown = invoiceOf(next)
  const values = storing(tenant, next, seen.sequence, type, shown)
  const { rowCount } = await connection.query({ ...changeInvoice, values })
  if (rowCount !== 1) throw new Error("A held row was overtaken")
  return shown
}
