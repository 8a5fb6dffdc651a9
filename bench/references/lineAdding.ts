import { billableOf, eventOf, type NewLine, type NewLines, rowOf } from "./billable.ts"
import { hold, rewrite } from "./heldInvoice.ts"
import type { InvoiceRow } from "./invoice.ts"
import { addBillables, bearersOfReferences } from "./invoicingStatements.ts"
import { hasFewDecimals, lineTotal, sum } from "./money.ts"
import { broken, notFound } from "./refused.ts"
import { type Connection, inTransaction } from "./transaction.ts"

const mostLines = 20_000

/** A line of an invoice, unless it breaks a rule of the business. */
const lineOf = (line: NewLine, { currencyCode, id: invoice }: InvoiceRow, at: string) => {
  const { amountMinor, quantity = 1, referenceId, referenceType } = line
  if ((line.currencyCode ?? currencyCode) !== currencyCode) throw broken(`currencyCode must be ${currencyCode}`)
  if ((referenceType === undefined) !== (referenceId === undefined))
    throw broken("referenceType and referenceId come together")
  const lineTotalMinor = lineTotal(quantity, amountMinor)
  if (lineTotalMinor === undefined) throw broken("quantity times amountMinor is too much")
  return billableOf(line, { invoice, quantity, currencyCode, lineTotalMinor }, at)
}

/** What was billed is not billed again. */
const requireUnbilled = async (connection: Connection, tenant: string, lines: ReadonlyArray<NewLine>) => {
  const wanted = lines.flatMap(({ referenceId, referenceType }) =>
    referenceId === undefined || referenceType === undefined ? [] : [{ referenceId, referenceType }]
  )
  if (wanted.length === 0) return
  const { rows } = await connection.query({ ...bearersOfReferences, values: [JSON.stringify(wanted), tenant] })
  const different = new Set(wanted.map((reference) => JSON.stringify(reference)))
  if (rows.length > 0 || different.size < wanted.length) throw broken("referenceId is billed already")
}

/** What the invoice comes to with more lines, and how many it has then. */
const amended = ({ billableCount, totalMinor }: InvoiceRow, totals: ReadonlyArray<number>) => {
  const total = sum(totalMinor, ...totals)
  const count = billableCount + totals.length
  if (total === undefined) throw broken("would take the total beyond what can be told")
  if (count > mostLines) throw broken(`would take the invoice beyond ${mostLines} lines`)
  return { subtotalMinor: total, totalMinor: total, billableCount: count }
}

/** Adds lines to a draft: all of them or none. */
export const addLines = async (tenant: string, { billables: lines, invoiceId }: NewLines) => {
  if (!lines.every(({ quantity = 1 }) => hasFewDecimals(quantity))) throw broken("quantity has too many decimals")
  return inTransaction(async (connection) => {
    const held = await hold(connection, tenant, invoiceId)
    if (held === undefined) throw notFound()
    const { contract, invoice } = held
    if (invoice.status !== "DRAFT") throw broken(`status is ${invoice.status}`)
    const at = new Date().toISOString()
    const made = lines.map((line) => lineOf(line, invoice, at))
    await requireUnbilled(connection, tenant, lines)
    const rows = JSON.stringify(made.map((line) => rowOf(tenant, line)))
    const events = JSON.stringify(made.map((line) => eventOf(tenant, contract.client, line)))
    const changes = made.map(({ lineTotalMinor }) => lineTotalMinor)
    await rewrite(connection, tenant, held, {
      statement: addBillables,
      along: [rows, events],
      changes,
      type: "invoice.updated",
      sets: amended(invoice, changes)
    })
    return made
  })
}
