/**
 * What can be booked. All kinds but ALLOCATION change what a client owes. An ALLOCATION uses up a payment or a credit note
 * to settle an invoice, and a REVERSAL takes back a payment, an allocation or a write-off.
 */
export const journalKinds = [
  "INVOICE",
  "VOID",
  "CREDIT_NOTE",
  "PAYMENT",
  "ALLOCATION",
  "REFUND",
  "REVERSAL",
  "WRITE_OFF"
] as const
export type JournalKind = (typeof journalKinds)[number]

/** The client and the currency that all entries of a booking have. */
export interface JournalAccount {
  readonly client: string
  readonly currencyCode: string
}

/** What settles invoices: a payment or a credit note. */
export type Credit = { readonly payment: string } | { readonly creditNote: string }

/** An entry of the journal. It changes what is open of an invoice, what is unused of a credit, or both. */
export interface JournalEntry {
  readonly kind: JournalKind
  readonly invoice?: string
  /** Change of the open amount of the invoice. */
  readonly invoiceMinor?: number
  readonly payment?: string
  readonly creditNote?: string
  /** Change of the unused amount of the payment or the credit note. */
  readonly creditMinor?: number
  readonly reason?: string | undefined
}

interface Allocation {
  readonly invoice: string
  readonly amountMinor: number
}

export const invoiceEntry = (invoice: string, totalMinor: number): JournalEntry => ({
  kind: "INVOICE",
  invoice,
  invoiceMinor: totalMinor
})

export const voidEntry = (invoice: string, totalMinor: number): JournalEntry => ({
  kind: "VOID",
  invoice,
  invoiceMinor: -totalMinor
})

export const paymentEntry = (payment: string, amountMinor: number): JournalEntry => ({
  kind: "PAYMENT",
  payment,
  creditMinor: amountMinor
})

export const creditNoteEntry = (creditNote: string, totalMinor: number, reason: string): JournalEntry => ({
  kind: "CREDIT_NOTE",
  creditNote,
  creditMinor: totalMinor,
  reason
})

export const allocationEntry = (credit: Credit, { amountMinor, invoice }: Allocation): JournalEntry => ({
  kind: "ALLOCATION",
  ...credit,
  creditMinor: -amountMinor,
  invoice,
  invoiceMinor: -amountMinor
})

export const refundEntry = (credit: Credit, amountMinor: number, reason: string | undefined): JournalEntry => ({
  kind: "REFUND",
  ...credit,
  creditMinor: -amountMinor,
  reason
})

/** The entries that take back a payment: first its allocations, then the payment itself. */
export const paymentReversalEntries = (
  payment: string,
  { allocations, amountMinor }: { readonly amountMinor: number; readonly allocations: ReadonlyArray<Allocation> },
  reason: string
): ReadonlyArray<JournalEntry> => [
  ...allocations.map(
    (allocation): JournalEntry => ({
      kind: "REVERSAL",
      payment,
      creditMinor: allocation.amountMinor,
      invoice: allocation.invoice,
      invoiceMinor: allocation.amountMinor,
      reason
    })
  ),
  { kind: "REVERSAL", payment, creditMinor: -amountMinor, reason }
]

export const writeOffEntry = (invoice: string, amountMinor: number, reason: string): JournalEntry => ({
  kind: "WRITE_OFF",
  invoice,
  invoiceMinor: -amountMinor,
  reason
})

export const writeOffReversalEntry = (invoice: string, amountMinor: number): JournalEntry => ({
  kind: "REVERSAL",
  invoice,
  invoiceMinor: amountMinor
})
