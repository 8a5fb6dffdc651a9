import type { Caller } from "./caller.ts"

/** An entry of the journal, for an invoice, a payment or a credit note. */
interface JournalEntry {
  readonly kind: string
  readonly invoice?: string
  readonly invoiceMinor?: number
  readonly payment?: string
  readonly creditNote?: string
  readonly creditMinor?: number
  readonly reason?: string
}

/** Books entries in their order. Its parameters follow the `first` parameters of the statement. */
export const bookingText = (first: number) => {
  const $ = (n: number) => `$${first + n}`
  return `booked as (
      insert into journal_entries (tenant_id, kind, booked_at, client_id, currency_code, invoice_id, invoice_minor,
        payment_id, credit_note_id, credit_minor, reason, created_by)
      select ${$(1)}, kind, coalesce(${$(2)}::timestamptz, clock_timestamp()), ${$(3)}, ${$(4)}, invoice,
        coalesce("invoiceMinor", 0), payment, "creditNote", coalesce("creditMinor", 0), reason, ${$(5)}
      from json_to_recordset(${$(6)}::json) as given (kind text, invoice text, "invoiceMinor" bigint, payment text,
        "creditNote" text, "creditMinor" bigint, reason text)
    )`
}

/** The client and the currency that all entries of a booking have. */
interface Account {
  readonly client: string
  readonly currencyCode: string
}

/** The values of `bookingText`. */
export const toBookingValues = (
  { subject, tenant }: Caller,
  { client, currencyCode }: Account,
  entries: ReadonlyArray<JournalEntry>,
  at: string | null = null
) => [tenant, at, client, currencyCode, subject, JSON.stringify(entries)]

interface Allocation {
  readonly invoice: string
  readonly amountMinor: number
}

/** The entry of what a payment or a credit note settles of an invoice. */
export const makeAllocationEntry = (
  credit: { readonly payment: string } | { readonly creditNote: string },
  { amountMinor, invoice }: Allocation
): JournalEntry => ({
  kind: "ALLOCATION",
  ...credit,
  creditMinor: -amountMinor,
  invoice,
  invoiceMinor: -amountMinor
})
