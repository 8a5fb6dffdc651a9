import { notFound, validationError } from "./apiError.ts"
import type { Caller } from "./caller.ts"
import { enqueueAndFinalize, freezeImages, loadParties } from "./invoicingStatements.ts"
import { toBookingValues } from "./journal.ts"
import { lockInvoice, updateLockedInvoice } from "./lockedInvoice.ts"
import { allocateNumber, invoiceSeries } from "./numberSeries.ts"
import { type Connection, inTransaction } from "./transaction.ts"

const millisPerDay = 86_400_000

const readParties = async (connection: Connection, tenant: string, contract: string) => {
  const { rows } = await connection.query({ ...loadParties, values: [tenant, contract] })
  const { bankAccount, clientAddress, clientName, contractName, tenantAddress, tenantName, timeZone } = rows[0]
  return {
    tenant: {
      name: tenantName,
      ...(tenantAddress === null ? {} : { address: tenantAddress }),
      timeZone,
      ...(bankAccount === null ? {} : { bankAccount })
    },
    client: { name: clientName, ...(clientAddress === null ? {} : { address: clientAddress }) },
    contract: { name: contractName }
  }
}

/** Gives a draft its number, freezes its parties and images, and enqueues its file. */
export const finalizeInvoice = (caller: Caller, id: string) =>
  inTransaction(async (connection) => {
    const { tenant } = caller
    const locked = await lockInvoice(connection, tenant, id)
    if (locked === undefined) throw notFound()
    const { contract, invoice } = locked
    if (invoice.status !== "DRAFT") throw validationError(`status is ${invoice.status}`)
    if (invoice.billableCount === 0 || invoice.totalMinor < 0) throw validationError("the invoice is not complete")
    const parties = await readParties(connection, tenant, invoice.contract)
    await connection.query({ ...freezeImages, values: [tenant, id, invoice.contract] })
    const { issuedAt, number, period, place } = await allocateNumber(connection, invoiceSeries, tenant)
    const term = contract.paymentTermDays * millisPerDay
    const dueAt = invoice.dueAt ?? new Date(Date.parse(issuedAt) + term).toISOString()
    const entries = [{ kind: "INVOICE", invoice: id, invoiceMinor: invoice.totalMinor }]
    return updateLockedInvoice(connection, caller, locked, {
      statement: enqueueAndFinalize,
      extraValues: [
        ...[tenant, id, period, place, JSON.stringify(parties)],
        ...toBookingValues(caller, contract, entries, issuedAt)
      ],
      eventType: "invoice.finalized",
      fields: { status: "FINALIZED", invoiceNumber: number, issuedAt, dueAt }
    })
  })
