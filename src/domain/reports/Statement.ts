import { Array as Arrays, Either, Schema } from "effect"
import { ClientId } from "../contracting/Client.ts"
import { CreditNoteId } from "../creditNotes/CreditNote.ts"
import { fieldError, type ValidationError } from "../Errors.ts"
import { InvoiceId } from "../invoicing/Invoice.ts"
import { type JournalKind, journalKinds } from "../journal/JournalEntry.ts"
import { LocalDate, localDateOf } from "../locale/TimeZone.ts"
import { CurrencyCode } from "../money/Currency.ts"
import { PaymentId } from "../payments/Payment.ts"
import { field, oneOf, optional, Timestamp } from "../Schemas.ts"
import { ReportAmount, sumTooLarge } from "./ReportAmount.ts"
import type { ReportPeriod } from "./ReportPeriod.ts"

/** The most entries of a statement. It bounds its memory and the pages of its PDF. */
export const maxStatementEntries = 10_000

const StatementEntry = Schema.Struct({
  bookedAt: field(Timestamp, "When it was booked.", "2026-11-14T09:30:00.000Z"),
  day: field(LocalDate, "That day in the time zone of the tenant.", "2026-11-14"),
  kind: field(oneOf(...journalKinds), "What was booked. A REVERSAL takes back a payment or a write-off.", "INVOICE"),
  documentNumber: optional(
    field(Schema.String, "Number of the invoice or the credit note, or reference of the payment.", "INV-2026-000001")
  ),
  invoice: optional(InvoiceId),
  payment: optional(PaymentId),
  creditNote: optional(CreditNoteId),
  amountMinor: field(ReportAmount, "What the client owes more, or less if negative, in minor units.", 21_206),
  balanceMinor: field(ReportAmount, "Balance after it, in minor units.", 21_206)
}).annotations({ description: "An entry of the journal that changed what the client owes." })
export type StatementEntry = typeof StatementEntry.Type

const CurrencyStatement = Schema.Struct({
  currencyCode: field(CurrencyCode, "Currency of the amounts.", "EUR"),
  openingMinor: field(ReportAmount, "Balance before the first day, in minor units.", 0),
  entries: field(Schema.Array(StatementEntry), "What was booked in the period, in order."),
  closingMinor: field(ReportAmount, "Balance after the last day, in minor units.", 21_206)
}).annotations({ description: "The statement in one currency." })
export type CurrencyStatement = typeof CurrencyStatement.Type

export const Statement = Schema.Struct({
  client: field(ClientId, "The client."),
  from: field(LocalDate, "First day.", "2026-11-01"),
  to: field(LocalDate, "Last day.", "2026-11-30"),
  currencies: field(
    Schema.Array(CurrencyStatement),
    "The statement by currency. Empty if the client owed nothing and nothing was booked."
  )
}).annotations({
  identifier: "Statement",
  description:
    "What a client owes less what it has paid in advance, before a period, after each entry of it, and at its end."
})
export type Statement = typeof Statement.Type

/** The balance of a client in a currency before a period. */
export interface OpeningBalance {
  readonly currencyCode: string
  readonly openingMinor: number
}

/** An entry of the journal in a period. */
export interface BookedEntry {
  readonly currencyCode: string
  readonly bookedAt: string
  readonly kind: JournalKind
  readonly documentNumber: string | null
  readonly invoice: string | null
  readonly payment: string | null
  readonly creditNote: string | null
  readonly amountMinor: number
}

const toEntries = (entries: ReadonlyArray<BookedEntry>, openingMinor: number, timeZone: string) => {
  let balanceMinor = openingMinor
  return entries.map(
    ({ amountMinor, bookedAt, creditNote, documentNumber, invoice, kind, payment }): StatementEntry => {
      balanceMinor += amountMinor
      return {
        bookedAt,
        day: localDateOf(bookedAt, timeZone),
        kind,
        ...(documentNumber === null ? {} : { documentNumber }),
        ...(invoice === null ? {} : { invoice: InvoiceId.make(invoice) }),
        ...(payment === null ? {} : { payment: PaymentId.make(payment) }),
        ...(creditNote === null ? {} : { creditNote: CreditNoteId.make(creditNote) }),
        amountMinor,
        balanceMinor
      }
    }
  )
}

/** The statement of each currency that has a balance or entries, in the order of the codes. */
export const toCurrencyStatements = (
  openings: ReadonlyArray<OpeningBalance>,
  entries: ReadonlyArray<BookedEntry>,
  timeZone: string
): ReadonlyArray<CurrencyStatement> => {
  const opened = new Map(openings.map(({ currencyCode, openingMinor }) => [currencyCode, openingMinor]))
  const booked = new Map(Object.entries(Arrays.groupBy(entries, ({ currencyCode }) => currencyCode)))
  return [...new Set([...opened.keys(), ...booked.keys()])].sort().flatMap((currencyCode) => {
    const openingMinor = opened.get(currencyCode) ?? 0
    const lines = toEntries(booked.get(currencyCode) ?? [], openingMinor, timeZone)
    const closingMinor = lines.at(-1)?.balanceMinor ?? openingMinor
    return lines.length === 0 && openingMinor === 0
      ? []
      : [{ currencyCode, openingMinor, entries: lines, closingMinor }]
  })
}

/** Rejects a statement with a balance that cannot be sent exactly. */
export const requireExactBalances = (
  currencies: ReadonlyArray<CurrencyStatement>
): Either.Either<void, ValidationError> =>
  currencies.every(({ entries }) => entries.every(({ balanceMinor }) => Number.isSafeInteger(balanceMinor)))
    ? Either.void
    : Either.left(sumTooLarge("to"))

/** Rejects a period with more entries than a statement can have. */
export const requireStatementLength = (
  entryCount: number,
  { from }: ReportPeriod
): Either.Either<void, ValidationError> =>
  entryCount <= maxStatementEntries
    ? Either.void
    : Either.left(
        fieldError(
          "from",
          "maxItems",
          `starts a period with more than ${maxStatementEntries} entries: "${from}" is too early`
        )
      )

export const statementCsvFields = [
  "currencyCode",
  "day",
  "bookedAt",
  "kind",
  "documentNumber",
  "invoice",
  "payment",
  "creditNote",
  "amountMinor",
  "balanceMinor"
] as const

/** The lines of a statement as CSV: for each currency the opening balance, the entries and the closing balance. */
export const toStatementRows = ({ currencies, from, to }: Statement): ReadonlyArray<object> =>
  currencies.flatMap(({ closingMinor, currencyCode, entries, openingMinor }) => [
    { currencyCode, day: from, kind: "OPENING", balanceMinor: openingMinor },
    ...entries.map((entry) => ({ currencyCode, ...entry })),
    { currencyCode, day: to, kind: "CLOSING", balanceMinor: closingMinor }
  ])
