import { notFound, validationError } from "./apiError.ts"
import type { Caller } from "./caller.ts"
import type { InvoiceRow } from "./invoice.ts"
import { toSettlementValues } from "./invoiceSettlement.ts"
import { makeAllocationEntry, toBookingValues } from "./journal.ts"
import { sumExactly } from "./money.ts"
import { makePayment, type NewPayment, type Payment, toPaymentValues } from "./payment.ts"
import { lockPayer, lockPayerAndInvoices, recordPayment } from "./paymentStatements.ts"
import { type Connection, inTransaction } from "./transaction.ts"

interface Payer {
  readonly duplicate: string | null
}

type PayableInvoice = InvoiceRow & { readonly client: string }
type LockedInvoices = ReadonlyMap<string, PayableInvoice>

/** Locks the client, then the invoices. An invoice that does not exist is left out. */
const lock = async (connection: Connection, tenant: string, { allocations = [], clientId, externalId }: NewPayment) => {
  const values = [tenant, externalId ?? null, clientId]
  const ids = JSON.stringify(allocations.map(({ invoiceId }) => invoiceId))
  const { rows } =
    allocations.length === 0
      ? { rows: [] }
      : await connection.query<PayableInvoice & { first: Payer }>({ ...lockPayerAndInvoices, values: [...values, ids] })
  const payer = rows[0]?.first ?? (await connection.query<Payer>({ ...lockPayer, values })).rows[0]
  if (payer === undefined) throw notFound()
  const invoices: LockedInvoices = new Map(rows.map(({ first: _, ...invoice }) => [invoice.id, invoice]))
  return { payer, invoices }
}

const requireAllocatable = (
  { allocations = [], amountMinor, clientId, currencyCode }: NewPayment,
  invoices: LockedInvoices
) => {
  const sum = sumExactly(...allocations.map((allocation) => allocation.amountMinor))
  if (sum === undefined || sum > amountMinor) throw validationError(`allocations must add up to at most ${amountMinor}`)
  for (const { amountMinor, invoiceId } of allocations) {
    const invoice = invoices.get(invoiceId)
    if (invoice?.client !== clientId) throw validationError(`${invoiceId} is not an invoice to ${clientId}`)
    if (invoice.status !== "FINALIZED") throw validationError(`${invoiceId} is ${invoice.status}`)
    if (invoice.currencyCode !== currencyCode) throw validationError(`${invoiceId} is in ${invoice.currencyCode}`)
    if (amountMinor > invoice.balanceMinor) throw validationError(`the balance is ${invoice.balanceMinor}`)
  }
}

const record = async (connection: Connection, caller: Caller, payment: Payment, invoices: LockedInvoices) => {
  const { allocations, amountMinor, client, createdAt, id } = payment
  const entries = [
    { kind: "PAYMENT", payment: id, creditMinor: amountMinor },
    ...allocations.map((allocation) => makeAllocationEntry({ payment: id }, allocation))
  ]
  const settlements = allocations.flatMap(({ amountMinor, invoice: id }) => {
    const invoice = invoices.get(id)
    return invoice === undefined ? [] : [{ invoice, paidMinor: amountMinor }]
  })
  const values = [
    ...toBookingValues(caller, payment, entries),
    ...toSettlementValues(caller, client, settlements, createdAt),
    ...toPaymentValues(caller, payment)
  ]
  await connection.query({ ...recordPayment, values })
}

/** Records a payment and settles the invoices that it is allocated to. */
export const createPayment = async (caller: Caller, request: NewPayment) => {
  const { allocations = [] } = request
  if (new Set(allocations.map(({ invoiceId }) => invoiceId)).size < allocations.length)
    throw validationError("allocations must not contain an invoice twice")
  return inTransaction(async (connection) => {
    const { invoices, payer } = await lock(connection, caller.tenant, request)
    if (payer.duplicate !== null) throw validationError(`externalId is already booked as ${payer.duplicate}`)
    requireAllocatable(request, invoices)
    const payment = makePayment(request, caller)
    await record(connection, caller, payment, invoices)
    return payment
  })
}
