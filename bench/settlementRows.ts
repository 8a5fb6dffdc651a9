import { seededLine, selectClient } from "./invoiceSeed.ts"
import type { Row } from "./row.ts"
import { tenants } from "./tenants.ts"

const { toCredit, toPay } = tenants

/** What is open of every invoice. */
const balanceMinor = toPay.lines * seededLine.total

/** In full and in part, with a rest, and with and without what a bank statement says. */
const paymentTemplates = [
  (n: number) => ({ amountMinor: balanceMinor, method: "bank transfer", externalId: `camt-2026-11-14-${n}` }),
  () => ({ amountMinor: balanceMinor }),
  () => ({ amountMinor: balanceMinor / 3, receivedAt: "2026-11-14T00:00:00Z", reference: "First of three, Zürich" }),
  (n: number) => ({ amountMinor: balanceMinor + 500, externalId: `camt-2026-11-15-${n}`, reference: "Rounded up" })
]

/** A payment of an invoice, which is the only one. */
const makePaymentFor = (invoiceId: string, n: number) => {
  const payment = paymentTemplates[n % paymentTemplates.length]?.(n) ?? { amountMinor: balanceMinor }
  const allocated = Math.min(payment.amountMinor, balanceMinor)
  return { clientId: selectClient(toPay, n), ...payment, allocations: [{ invoiceId, amountMinor: allocated }] }
}

/** Most payments leave no balance, so that every request is for another invoice. */
export const recordPayment: Row = {
  name: "POST /payments",
  method: "POST",
  requests: toPay.invoices.map((invoice, n) => ({
    path: "/api/v1/payments",
    tenant: toPay.id,
    body: { currencyCode: "CHF", ...makePaymentFor(invoice, n) }
  })),
  rejected: [],
  isSentOnce: true,
  references: []
}

/** A note can be finalized only once, so that every request is for another one. */
export const finalizeCreditNote: Row = {
  name: "POST /credit-notes/{id}/finalize",
  method: "POST",
  requests: toCredit.creditNotes.map((note) => ({
    path: `/api/v1/credit-notes/${note}/finalize`,
    tenant: toCredit.id
  })),
  rejected: [],
  isSentOnce: true,
  references: []
}
