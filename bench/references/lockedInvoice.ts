import { validationError } from "./apiError.ts"
import type { Caller } from "./caller.ts"
import { newId } from "./ids.ts"
import { type InvoiceRow, toInvoice } from "./invoice.ts"
import { lockInvoiceStatement } from "./invoicingStatements.ts"
import { sumExactly } from "./money.ts"
import type { Connection } from "./transaction.ts"

interface LockedContract {
  readonly id: string
  readonly client: string
  readonly currencyCode: string
  readonly paymentTermDays: number
  readonly capMinor: number | null
  readonly billedMinor: number
}

export interface LockedInvoice {
  readonly contract: LockedContract
  readonly invoice: InvoiceRow
}

/** Locks an invoice after its contract, like the service, to avoid deadlocks. Undefined when it does not exist. */
export const lockInvoice = async (connection: Connection, tenant: string, id: string) => {
  const values = [tenant, tenant, id, tenant, id]
  const { rows } = await connection.query<InvoiceRow & { first: LockedContract; hidden: unknown }>({
    ...lockInvoiceStatement,
    values
  })
  if (rows[0] === undefined) return undefined
  const { first, hidden: _, ...invoice } = rows[0]
  return { contract: first, invoice }
}

/** Triggers move the billed amount, for the references too. */
export const requireWithinCap = ({ billedMinor, capMinor, id }: LockedContract, changes: ReadonlyArray<number>) => {
  const total = sumExactly(billedMinor, ...changes)
  if (total === undefined || (total > billedMinor && total > (capMinor ?? total)))
    throw validationError(`would exceed the cap of contract ${id}`)
}

/** The values of `invoiceUpdateText`. */
const toInvoiceValues = (
  { subject, tenant }: Caller,
  invoice: InvoiceRow,
  currentSequence: number,
  eventType: string,
  data: object
) => {
  const { contract, createdAt, currencyCode, id, sequence, status, updatedAt } = invoice
  const { billableCount, dueAt, invoiceNumber, issuedAt, paidAt, subtotalMinor, totalMinor } = invoice
  const { creditedMinor, paidMinor, writtenOffMinor } = invoice
  const { discount, discountMinor, discountReason, taxMinor, taxes } = invoice
  return [
    ...[
      id,
      contract,
      status,
      invoiceNumber,
      currencyCode,
      subtotalMinor,
      discountMinor,
      JSON.stringify(taxes),
      taxMinor
    ],
    ...[
      totalMinor,
      paidMinor,
      creditedMinor,
      writtenOffMinor,
      billableCount,
      issuedAt,
      dueAt,
      discount,
      discountReason
    ],
    ...[paidAt, createdAt, updatedAt, sequence],
    ...[tenant, id, currentSequence],
    ...[tenant, newId("evt"), eventType, id, tenant, contract, sequence, updatedAt, subject, JSON.stringify(data)]
  ]
}

interface InvoiceUpdate {
  readonly statement: { readonly name: string; readonly text: string }
  /** The values of the statement that precede those of the invoice. */
  readonly extraValues: ReadonlyArray<unknown>
  /** What is added to the billed amount of the contract, if that changes. */
  readonly billedChanges?: ReadonlyArray<number>
  readonly eventType: string
  readonly fields: Partial<InvoiceRow>
}

/** Updates a locked invoice whose contract can bill the change. */
export const updateLockedInvoice = async (
  connection: Connection,
  caller: Caller,
  { contract, invoice }: LockedInvoice,
  { extraValues, billedChanges = [], fields, statement, eventType }: InvoiceUpdate
) => {
  requireWithinCap(contract, billedChanges)
  const next = { ...invoice, ...fields, updatedAt: new Date().toISOString(), sequence: invoice.sequence + 1 }
  const data = toInvoice(next)
  const values = [...extraValues, ...toInvoiceValues(caller, next, invoice.sequence, eventType, data)]
  const { rowCount } = await connection.query({ ...statement, values })
  if (rowCount !== 1) throw new Error("A locked row changed")
  return data
}
