import { newId } from "./ids.ts"
import { type InvoiceRow, invoiceOf } from "./invoice.ts"
import { holdInvoice } from "./invoicingStatements.ts"
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

export interface Held {
  readonly contract: HeldContract
  readonly invoice: InvoiceRow
}

/** A contract and an invoice of it, held in this order until the transaction ends; undefined when there is none. */
export const hold = async (connection: Connection, tenant: string, id: string) => {
  const values = [tenant, tenant, id, tenant, id]
  const { rows } = await connection.query<InvoiceRow & { first: HeldContract }>({ ...holdInvoice, values })
  if (rows[0] === undefined) return undefined
  const { first, ...invoice } = rows[0]
  return { contract: first, invoice }
}

/** The values of the part that bills more or less under a contract that is held, within its cap. */
const billing = (tenant: string, { billedMinor, capMinor, id }: HeldContract, changes: ReadonlyArray<number>) => {
  const total = sum(billedMinor, ...changes)
  if (total === undefined || (total > billedMinor && total > (capMinor ?? total)))
    throw broken(`would bill more under contract ${id} than its cap`)
  return [total, tenant, id]
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

interface Rewriting {
  readonly statement: { readonly name: string; readonly text: string }
  /** The values of what is changed with the invoice. */
  readonly along: ReadonlyArray<unknown>
  readonly changes: ReadonlyArray<number>
  readonly type: string
  readonly sets: Partial<InvoiceRow>
}

/** Sets fields of an invoice that is held, and what its contract bills. */
export const rewrite = async (
  connection: Connection,
  tenant: string,
  { contract, invoice: seen }: Held,
  { along, changes, sets, statement, type }: Rewriting
) => {
  const next = { ...seen, ...sets, updatedAt: new Date().toISOString(), sequence: seen.sequence + 1 }
  const shown = invoiceOf(next)
  const values = [...along, ...billing(tenant, contract, changes), ...storing(tenant, next, seen.sequence, type, shown)]
  const { rowCount } = await connection.query({ ...statement, values })
  if (rowCount !== 1) throw new Error("A held row was overtaken")
  return shown
}
