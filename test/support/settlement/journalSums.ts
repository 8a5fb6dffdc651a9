import type { CreditNote } from "../../../src/domain/creditNotes/CreditNote.ts"
import type { Invoice } from "../../../src/domain/invoicing/Invoice.ts"
import { netOf } from "../../../src/domain/invoicing/InvoiceTotals.ts"
import type { JournalEntry } from "../../../src/domain/journal/JournalEntry.ts"

/** What the entries of an invoice and of its credit notes add up to. */
export interface InvoiceSums {
  readonly openMinor: number
  readonly paidMinor: number
  readonly creditedMinor: number
  readonly writtenOffMinor: number
  /** Its part of the revenue and of the taxes in reports. */
  readonly netMinor: number
  readonly taxMinor: number
}

/** What all entries of the journal add up to, as the database and the reports sum them. */
export interface JournalSums {
  readonly invoices: ReadonlyMap<string, InvoiceSums>
  /** What is unused of each payment and each credit note. */
  readonly unused: ReadonlyMap<string, number>
  /** The money that arrived and was not returned, without refunds. */
  readonly receivedMinor: number
  readonly refundedMinor: number
}

export const noEntries: JournalSums = { invoices: new Map(), unused: new Map(), receivedMinor: 0, refundedMinor: 0 }

const noSums: InvoiceSums = {
  openMinor: 0,
  paidMinor: 0,
  creditedMinor: 0,
  writtenOffMinor: 0,
  netMinor: 0,
  taxMinor: 0
}

export const sumsOf = ({ invoices }: JournalSums, invoice: string) => invoices.get(invoice) ?? noSums

type Document = Pick<Invoice | CreditNote, "subtotalMinor" | "discountMinor" | "taxMinor">

/** The document that an entry books, with its invoice. Undefined for an entry that books none. */
export type FindDocument = (
  entry: JournalEntry
) => { readonly invoice: string; readonly document: Document } | undefined

const addSettled = (sums: InvoiceSums, { creditNote, invoiceMinor = 0, kind, payment }: JournalEntry): InvoiceSums => {
  const settled = {
    ...(payment === undefined ? {} : { paidMinor: sums.paidMinor - invoiceMinor }),
    ...(creditNote === undefined ? {} : { creditedMinor: sums.creditedMinor - invoiceMinor })
  }
  const isWriteOff = payment === undefined && creditNote === undefined && ["WRITE_OFF", "REVERSAL"].includes(kind)
  const writtenOff = isWriteOff ? { writtenOffMinor: sums.writtenOffMinor - invoiceMinor } : {}
  return { ...sums, openMinor: sums.openMinor + invoiceMinor, ...settled, ...writtenOff }
}

const addRevenue = (sums: InvoiceSums, sign: number, document: Document): InvoiceSums => ({
  ...sums,
  netMinor: sums.netMinor + sign * netOf(document),
  taxMinor: sums.taxMinor + sign * document.taxMinor
})

export const addEntry = (journal: JournalSums, entry: JournalEntry, find: FindDocument): JournalSums => {
  const { creditMinor = 0, creditNote, invoice, kind, payment } = entry
  const invoices = new Map(journal.invoices)
  if (invoice !== undefined) invoices.set(invoice, addSettled(sumsOf(journal, invoice), entry))
  const booked = find(entry)
  if (booked !== undefined)
    invoices.set(
      booked.invoice,
      addRevenue(invoices.get(booked.invoice) ?? noSums, kind === "INVOICE" ? 1 : -1, booked.document)
    )
  const unused = new Map(journal.unused)
  const credit = payment ?? creditNote
  if (credit !== undefined) unused.set(credit, (unused.get(credit) ?? 0) + creditMinor)
  const isMoney = payment !== undefined && invoice === undefined && kind !== "REFUND"
  return {
    invoices,
    unused,
    receivedMinor: journal.receivedMinor + (isMoney ? creditMinor : 0),
    refundedMinor: journal.refundedMinor - (kind === "REFUND" ? creditMinor : 0)
  }
}
