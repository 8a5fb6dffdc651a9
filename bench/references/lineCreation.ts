import { notFound, validationError } from "./apiError.ts"
import { makeBillable, makeBillableEvent, type NewLine, type NewLines, toBillableRow } from "./billable.ts"
import type { Caller } from "./caller.ts"
import type { InvoiceRow } from "./invoice.ts"
import { findBilledReferences } from "./invoicingStatements.ts"
import { addToLockedInvoice, lockInvoice } from "./lockedInvoice.ts"
import { computeLineTotal, hasAllowedScale, sumExactly } from "./money.ts"
import { type Connection, inTransaction } from "./transaction.ts"

const maxLines = 20_000

const makeLine = (line: NewLine, { currencyCode, id }: InvoiceRow, at: string) => {
  const { amountMinor, quantity = 1, referenceId, referenceType } = line
  if ((line.currencyCode ?? currencyCode) !== currencyCode)
    throw validationError(`currencyCode must be ${currencyCode}`)
  if ((referenceType === undefined) !== (referenceId === undefined))
    throw validationError("referenceType and referenceId must be set together")
  const lineTotalMinor = computeLineTotal(quantity, amountMinor)
  if (lineTotalMinor === undefined) throw validationError("quantity times amountMinor is too large")
  return makeBillable(line, { invoice: id, quantity, currencyCode, lineTotalMinor }, at)
}

/** A reference can be billed only once. */
const requireUnbilled = async (connection: Connection, tenant: string, lines: ReadonlyArray<NewLine>) => {
  const references = lines.flatMap(({ referenceId, referenceType }) =>
    referenceId === undefined || referenceType === undefined ? [] : [{ referenceId, referenceType }]
  )
  if (references.length === 0) return
  const { rows } = await connection.query({ ...findBilledReferences, values: [JSON.stringify(references), tenant] })
  const distinct = new Set(references.map((reference) => JSON.stringify(reference)))
  if (rows.length > 0 || distinct.size < references.length) throw validationError("referenceId is already billed")
}

const computeTotals = ({ billableCount, totalMinor }: InvoiceRow, totals: ReadonlyArray<number>) => {
  const total = sumExactly(totalMinor, ...totals)
  const count = billableCount + totals.length
  if (total === undefined) throw validationError("total would be too large")
  if (count > maxLines) throw validationError(`invoice would have more than ${maxLines} lines`)
  return { subtotalMinor: total, totalMinor: total, balanceMinor: Math.max(total, 0), billableCount: count }
}

/** Adds all lines to a draft, or none. */
export const addLines = async (caller: Caller, { billables, invoiceId }: NewLines) => {
  if (!billables.every(({ quantity = 1 }) => hasAllowedScale(quantity)))
    throw validationError("quantity has too many decimals")
  const { tenant } = caller
  return inTransaction(async (connection) => {
    const locked = await lockInvoice(connection, tenant, invoiceId)
    if (locked === undefined) throw notFound()
    const { contract, invoice } = locked
    if (invoice.status !== "DRAFT") throw validationError(`status is ${invoice.status}`)
    const at = new Date().toISOString()
    const created = billables.map((line) => makeLine(line, invoice, at))
    await requireUnbilled(connection, tenant, billables)
    const rows = JSON.stringify(created.map((line) => toBillableRow(tenant, line)))
    const events = JSON.stringify(created.map((line) => makeBillableEvent(caller, contract.client, line)))
    const lineTotals = created.map(({ lineTotalMinor }) => lineTotalMinor)
    await addToLockedInvoice(connection, caller, locked, {
      lines: [rows, events],
      billedChanges: lineTotals,
      fields: computeTotals(invoice, lineTotals)
    })
    return created
  })
}
