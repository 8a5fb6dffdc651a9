import { seededLine, selectClient } from "./invoiceSeed.ts"
import { type RejectedRequest, type Row, type RowRequest, rejectInForeignTenant } from "./row.ts"
import { tenants } from "./tenants.ts"

const { toCredit, toPay } = tenants

/** What is open of every invoice. */
const balanceMinor = toPay.lines * seededLine.total

const makePaymentRequest = (body: object, tenant = toPay.id): RowRequest => ({
  path: "/api/v1/payments",
  tenant,
  body: { currencyCode: "CHF", ...body }
})

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

const payments = toPay.invoices.map(makePaymentFor)

/** The last invoices are never paid. */
const openIndex = toPay.invoices.length - 1
const openInvoice = toPay.invoices[openIndex] ?? ""
const validPayment = {
  clientId: selectClient(toPay, openIndex),
  amountMinor: balanceMinor,
  allocations: [{ invoiceId: openInvoice, amountMinor: 1 }]
}

const allocate = (invoiceId: string, amountMinor: number) => ({
  ...validPayment,
  allocations: [{ invoiceId, amountMinor }]
})

/** Payments that violate one rule each. */
const invalidPayments: ReadonlyArray<readonly [description: string, payment: object]> = [
  ["of an invoice that is paid already", { ...payments[0], externalId: "another" }],
  ["with an identifier that is booked already", { ...validPayment, externalId: "camt-2026-11-14-0" }],
  ["above the balance", { ...allocate(openInvoice, balanceMinor + 1), amountMinor: balanceMinor + 1 }],
  [
    "with allocations above its amount",
    { ...validPayment, amountMinor: 1, allocations: [{ invoiceId: openInvoice, amountMinor: 2 }] }
  ],
  [
    "with an invoice twice",
    { ...validPayment, allocations: [...validPayment.allocations, ...validPayment.allocations] }
  ],
  ["in another currency", { ...validPayment, currencyCode: "EUR" }],
  ["of an invoice to another client", allocate(toPay.invoices[openIndex - 1] ?? "", 1)],
  ["of an invoice of a foreign tenant", allocate(tenants.foreign.invoices[0] ?? "", 1)],
  ["with an invalid id", allocate("none", 1)],
  ["without an amount", { clientId: validPayment.clientId }],
  ["with an amount of 0", { ...validPayment, amountMinor: 0, allocations: [] }],
  ["with a fractional amount", { ...validPayment, amountMinor: 0.5 }],
  [
    "with an unknown field of an allocation",
    { ...validPayment, allocations: [{ invoiceId: openInvoice, amountMinor: 1, unknownField: 1 }] }
  ],
  ["with a day instead of a time", { ...validPayment, receivedAt: "2026-11-14" }],
  ["with an empty reference", { ...validPayment, reference: "" }]
]

const rejectedPayments: ReadonlyArray<RejectedRequest> = [
  rejectInForeignTenant(makePaymentRequest(validPayment)),
  { description: "by a MEMBER", status: 403, request: makePaymentRequest(validPayment, tenants.withDrafts.id) },
  {
    description: "of a client of a foreign tenant",
    status: 404,
    request: makePaymentRequest({ ...validPayment, clientId: tenants.foreign.clients[0] })
  },
  ...invalidPayments.map(([description, payment]) => ({
    description,
    status: 400,
    request: makePaymentRequest(payment)
  }))
]

/** Most payments leave no balance, so that every request is for another invoice. */
export const recordPayment: Row = {
  name: "POST /payments",
  method: "POST",
  requests: payments.map((payment) => makePaymentRequest(payment)),
  rejected: rejectedPayments,
  isSentOnce: true,
  generatedFields: ["id", "invoice", "externalId", "receivedAt", "createdAt", "updatedAt"]
}

const makeFinalizeRequest = (note: string, tenant = toCredit.id): RowRequest => ({
  path: `/api/v1/credit-notes/${note}/finalize`,
  tenant
})

const [firstNote = ""] = toCredit.creditNotes

/** A note can be finalized only once, so that every request is for another one. */
export const finalizeCreditNote: Row = {
  name: "POST /credit-notes/{id}/finalize",
  method: "POST",
  requests: toCredit.creditNotes.map((note) => makeFinalizeRequest(note)),
  rejected: [
    rejectInForeignTenant(makeFinalizeRequest(firstNote)),
    { description: "by a MEMBER", status: 403, request: makeFinalizeRequest(firstNote, tenants.withDrafts.id) },
    { description: "for the second time", status: 400, request: makeFinalizeRequest(firstNote) },
    {
      description: "for a note of a foreign tenant",
      status: 404,
      request: makeFinalizeRequest(tenants.foreign.creditNotes[0] ?? "")
    },
    { description: "with an unknown id", status: 404, request: makeFinalizeRequest("crn_0") },
    { description: "with an invalid id", status: 404, request: makeFinalizeRequest("none") }
  ],
  isSentOnce: true,
  generatedFields: ["id", "invoice", "billable", "creditNoteNumber", "issuedAt", "updatedAt"]
}
