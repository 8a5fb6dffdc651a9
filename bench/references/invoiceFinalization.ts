import { notFound, validationError } from "./apiError.ts"
import { enqueueAndFinalize, freezeImages, incrementCounter, loadParties, lockSeries } from "./invoicingStatements.ts"
import { lockInvoice, updateLockedInvoice } from "./lockedInvoice.ts"
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

/** The next number of the tenant's series, whose row stays locked until the transaction ends. */
const allocateNumber = async (connection: Connection, tenant: string) => {
  const { rows: series } = await connection.query({ ...lockSeries, values: [tenant, "INV-{year}-{seq:6}"] })
  const { issuedAt, pattern }: { issuedAt: string; pattern: string } = series[0]
  const period = issuedAt.slice(0, 4)
  const { rows: counters } = await connection.query({ ...incrementCounter, values: [tenant, period] })
  const { place }: { place: number } = counters[0]
  const invoiceNumber = pattern
    .replace("{year}", period)
    .replace(/\{seq:(\d+)\}/, (_, width: string) => String(place).padStart(Number(width), "0"))
  return { issuedAt, period, place, invoiceNumber }
}

/** Gives a draft its number, freezes its parties and images, and enqueues its file. */
export const finalizeInvoice = (tenant: string, id: string) =>
  inTransaction(async (connection) => {
    const locked = await lockInvoice(connection, tenant, id)
    if (locked === undefined) throw notFound()
    const { contract, invoice } = locked
    if (invoice.status !== "DRAFT") throw validationError(`status is ${invoice.status}`)
    if (invoice.billableCount === 0 || invoice.totalMinor < 0) throw validationError("the invoice is not complete")
    const parties = await readParties(connection, tenant, invoice.contract)
    await connection.query({ ...freezeImages, values: [tenant, id, invoice.contract] })
    const { invoiceNumber, issuedAt, period, place } = await allocateNumber(connection, tenant)
    const term = contract.paymentTermDays * millisPerDay
    const dueAt = invoice.dueAt ?? new Date(Date.parse(issuedAt) + term).toISOString()
    return updateLockedInvoice(connection, tenant, locked, {
      statement: enqueueAndFinalize,
      extraValues: [tenant, id, period, place, JSON.stringify(parties)],
      eventType: "invoice.finalized",
      fields: { status: "FINALIZED", invoiceNumber, issuedAt, dueAt }
    })
  })
