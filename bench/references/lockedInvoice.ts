import { validationError } from "./apiError.ts"
import type { Caller } from "./caller.ts"
import { newId } from "./ids.ts"
import { type InvoiceRow, toInvoice } from "./invoice.ts"
import { addBillables, lockInvoiceStatement } from "./invoicingStatements.ts"
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

interface LockedInvoice {
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
const requireWithinCap = ({ billedMinor, capMinor, id }: LockedContract, changes: ReadonlyArray<number>) => {
  const total = sumExactly(billedMinor, ...changes)
  if (total === undefined || (total > billedMinor && total > (capMinor ?? total)))
    throw validationError(`would exceed the cap of contract ${id}`)
}

/** The values of `invoiceUpdateText`. */
const toInvoiceValues = ({ subject, tenant }: Caller, invoice: InvoiceRow, currentSequence: number, data: object) => {
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
    ...[tenant, newId("evt"), "invoice.updated", id, tenant, contract, sequence, updatedAt, subject, null],
    JSON.stringify(data)
  ]
}

interface Addition {
  /** JSON of the rows of the lines and of their events. */
  readonly lines: readonly [rows: string, events: string]
  /** What is added to the billed amount of the contract. */
  readonly billedChanges: ReadonlyArray<number>
  readonly fields: Partial<InvoiceRow>
}

/** Adds lines to a locked invoice whose contract can bill them. */
export const addToLockedInvoice = async (
  connection: Connection,
  caller: Caller,
  { contract, invoice }: LockedInvoice,
  { billedChanges, fields, lines }: Addition
) => {
  requireWithinCap(contract, billedChanges)
  const next = { ...invoice, ...fields, updatedAt: new Date().toISOString(), sequence: invoice.sequence + 1 }
  const values = [...lines, ...toInvoiceValues(caller, next, invoice.sequence, toInvoice(next))]
  const { rowCount } = await connection.query({ ...addBillables, values })
  if (rowCount !== 1) throw new Error("A locked row changed")
}
