import { notFound, validationError } from "./apiError.ts"
import type { Caller } from "./caller.ts"
import { type Credit, creditInvoice } from "./crediting.ts"
import { type CreditNoteRow, toCreditNote, toNoteValues } from "./creditNote.ts"
import { finalizeLockedNote, lockClientOfNote, lockNote, readNote, readTimeZone } from "./creditNoteStatements.ts"
import type { InvoiceRow } from "./invoice.ts"
import { toSettlementValues } from "./invoiceSettlement.ts"
import { makeAllocationEntry, toBookingValues } from "./journal.ts"
import { type LockedInvoice, lockInvoice, requireWithinCap } from "./lockedInvoice.ts"
import { allocateNumber, creditNoteSeries } from "./numberSeries.ts"
import { type Connection, inTransaction } from "./transaction.ts"

/** Locks the client first, like the service, to avoid deadlocks. */
const lock = async (connection: Connection, tenant: string, id: string) => {
  const values = [tenant, id]
  const { rowCount } = await connection.query({ ...lockClientOfNote, values })
  if (rowCount !== 1) throw notFound()
  const { rows } = await connection.query<CreditNoteRow>({ ...readNote, values })
  const locked = await lockInvoice(connection, tenant, rows[0]?.invoice ?? "")
  const { rows: notes } = await connection.query<CreditNoteRow>({ ...lockNote, values })
  if (locked === undefined || notes[0] === undefined) throw notFound()
  return { locked, note: notes[0] }
}

/** The note with what it credits now. It settles the balance of its invoice first. */
const computeFinal = (note: CreditNoteRow, invoice: InvoiceRow, { lines, netMinor }: Credit): CreditNoteRow => {
  const settledMinor = Math.min(netMinor, invoice.balanceMinor)
  return {
    ...note,
    status: "FINALIZED",
    lines,
    subtotalMinor: netMinor,
    totalMinor: netMinor,
    allocations: settledMinor === 0 ? [] : [{ invoice: invoice.id, amountMinor: settledMinor }],
    unallocatedMinor: netMinor - settledMinor,
    updatedAt: new Date().toISOString(),
    sequence: note.sequence + 1
  }
}

const toBooking = (caller: Caller, note: CreditNoteRow, issuedAt: string) => {
  const { allocations, id, reason, totalMinor } = note
  const entries = [
    { kind: "CREDIT_NOTE", creditNote: id, creditMinor: totalMinor, reason },
    ...allocations.map((allocation) => makeAllocationEntry({ creditNote: id }, allocation))
  ]
  return toBookingValues(caller, note, entries, issuedAt)
}

const issue = async (
  connection: Connection,
  caller: Caller,
  { contract, invoice }: LockedInvoice,
  draft: CreditNoteRow,
  { after, before, completed }: Credit
) => {
  const { tenant } = caller
  const { id, lines } = draft
  requireWithinCap(contract, [-draft.subtotalMinor])
  // The year of a number is that of the tenant, and all seeded tenants are in UTC.
  await connection.query({ ...readTimeZone, values: [tenant] })
  const { issuedAt, number, period, place } = await allocateNumber(connection, creditNoteSeries, tenant)
  const note = { ...draft, creditNoteNumber: number, issuedAt }
  const data = toCreditNote(note)
  const settlements = note.allocations.map(({ amountMinor }) => ({ invoice, creditedMinor: amountMinor }))
  const values = [
    ...[tenant, invoice.id, id, JSON.stringify(lines), JSON.stringify(completed), JSON.stringify(after)],
    ...toBooking(caller, note, issuedAt),
    ...toSettlementValues(caller, contract.client, settlements, issuedAt),
    ...toNoteValues(caller, note, { period, place, creditedBefore: JSON.stringify(before) }, data)
  ]
  await connection.query({ ...finalizeLockedNote, values })
  return data
}

/** Gives a draft its number, credits the lines of its invoice and settles the invoice. */
export const finalizeCreditNote = (caller: Caller, id: string) =>
  inTransaction(async (connection) => {
    const { locked, note } = await lock(connection, caller.tenant, id)
    if (note.status !== "DRAFT") throw validationError(`status is ${note.status}`)
    const credit = await creditInvoice(connection, caller.tenant, locked.invoice, note)
    return issue(connection, caller, locked, computeFinal(note, locked.invoice, credit), credit)
  })
