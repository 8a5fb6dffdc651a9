import { reopenInvoices, useOwnCredit } from "../../../src/domain/creditNotes/OwnCredit.ts"
import { requireNoErrors } from "../../../src/domain/Errors.ts"
import { allocationEntry, paymentEntry, paymentReversalEntries } from "../../../src/domain/journal/JournalEntry.ts"
import {
  allocatedSumErrors,
  requireRecorded,
  requireReversible,
  reversePayment as reversed,
  toPayment
} from "../../../src/domain/payments/Payment.ts"
import { allocationErrors } from "../../../src/domain/settlement/Settlement.ts"
import {
  type Accounts,
  at,
  book,
  type InvoiceKey,
  invoiceOf,
  type PaymentKey,
  paymentOf,
  putNote,
  putPayment,
  settle
} from "./accounts.ts"
import { allocatedInvoice, creditMoves } from "./creditMoves.ts"
import { requirePayable } from "./invoiceOperations.ts"
import { about, combine, operation, violating } from "./operation.ts"

interface Recorded {
  readonly payment: PaymentKey
  readonly amountMinor: number
  readonly allocations: ReadonlyArray<{ readonly invoiceId: InvoiceKey; readonly amountMinor: number }>
}

const record = (accounts: Accounts, { allocations, amountMinor, payment: id }: Recorded) => {
  const { client } = accounts
  const fields = toPayment({ clientId: client, currencyCode: "EUR", amountMinor, allocations }, at, undefined)
  const recorded = putPayment(accounts, { id, ...fields, createdAt: at, updatedAt: at })
  const settlements = fields.allocations.map((one) => ({
    invoice: one.invoice,
    changes: { paidMinor: one.amountMinor }
  }))
  return book(settle(recorded, settlements), [
    paymentEntry(id, amountMinor),
    ...fields.allocations.map((allocation) => allocationEntry({ payment: id }, allocation))
  ])
}

const allocationErrorsOf = (accounts: Accounts, { allocations }: Recorded) =>
  allocations.flatMap(({ amountMinor, invoiceId }) =>
    allocationErrors("", amountMinor, allocatedInvoice(accounts, invoiceId), {
      source: "payment",
      client: accounts.client,
      currencyCode: "EUR"
    })
  )

export const recordPayment = operation<Recorded>("record a payment", {
  targets: ({ amounts, invoices, newPayments }) => {
    const single = combine<Recorded["allocations"][number]>({ invoiceId: invoices, amountMinor: amounts })
    const allocations = [[], ...single.map((allocation) => [allocation])]
    return combine<Recorded>({ payment: newPayments, amountMinor: amounts, allocations })
  },
  toText: ({ allocations, amountMinor, payment }) =>
    [
      `record ${payment} of ${amountMinor}`,
      ...allocations.map((allocation) => `${allocation.amountMinor} of it for ${allocation.invoiceId}`)
    ].join(", "),
  guards: {
    "allocated up to its amount": (_, { allocations, amountMinor }) =>
      requireNoErrors(allocatedSumErrors(amountMinor, allocations)),
    "for finalized invoices": (accounts, target) => violating("state", allocationErrorsOf(accounts, target)),
    "up to their balances": (accounts, target) => violating("max", allocationErrorsOf(accounts, target))
  },
  effect: record
})

export const payInvoice = operation<{ readonly invoice: InvoiceKey; readonly payment: PaymentKey }>("pay an invoice", {
  targets: ({ invoices, newPayments }) => combine({ invoice: invoices, payment: newPayments }),
  toText: ({ invoice, payment }) => `pay ${invoice} with ${payment}`,
  guards: { "a finalized invoice": requirePayable },
  effect: (accounts, { invoice, payment }) => {
    const { balanceMinor } = invoiceOf(accounts, invoice).value
    if (balanceMinor === 0) return settle(accounts, [{ invoice, changes: {} }])
    const allocations = [{ invoiceId: invoice, amountMinor: balanceMinor }]
    return record(accounts, { payment, amountMinor: balanceMinor, allocations })
  }
})

const moves = creditMoves({
  name: "payment",
  choose: ({ payments }) => payments,
  get: paymentOf,
  put: putPayment,
  refOf: (payment: PaymentKey) => ({ payment }),
  settles: "paidMinor",
  requireUsable: requireRecorded
})

export const { allocate: allocatePayment, refund: refundPayment } = moves

export const reversePayment = operation<{ readonly payment: PaymentKey }>("reverse a payment", {
  targets: ({ payments }) => combine({ payment: payments }),
  toText: ({ payment }) => `reverse ${payment}`,
  guards: {
    "not reversed": (accounts, { payment }) => about("status", requireReversible(paymentOf(accounts, payment))),
    "nothing refunded": (accounts, { payment }) =>
      about("refundedMinor", requireReversible(paymentOf(accounts, payment)))
  },
  effect: (accounts, { payment: id }) => {
    const payment = paymentOf(accounts, id)
    const own = useOwnCredit(payment.allocations, [...accounts.notes.values()])
    const credited = own.map(({ allocation }) => allocation)
    const taken = putPayment(accounts, reversed(payment, "Returned", at))
    const used = own.reduce((current, { note }) => putNote(current, note), taken)
    return book(settle(used, reopenInvoices(payment.allocations, credited)), [
      ...paymentReversalEntries(id, payment, "Returned"),
      ...own.map(({ allocation, note }) => allocationEntry({ creditNote: note.id }, allocation))
    ])
  }
})
