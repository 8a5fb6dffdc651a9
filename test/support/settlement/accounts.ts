import { Either } from "effect"
import type { ClientId } from "../../../src/domain/contracting/Client.ts"
import { type BilledContract, billedAfter } from "../../../src/domain/contracting/ContractCap.ts"
import type { CreditableInvoice, CreditableLine } from "../../../src/domain/creditNotes/Crediting.ts"
import type { CreditNote, CreditNoteId } from "../../../src/domain/creditNotes/CreditNote.ts"
import type { Invoice, InvoiceId } from "../../../src/domain/invoicing/Invoice.ts"
import { netOf } from "../../../src/domain/invoicing/InvoiceTotals.ts"
import type { JournalEntry } from "../../../src/domain/journal/JournalEntry.ts"
import type { Payment, PaymentId } from "../../../src/domain/payments/Payment.ts"
import { type Settlement, settleInvoice } from "../../../src/domain/settlement/Settlement.ts"
import { addEntry, type FindDocument, type JournalSums, noEntries } from "./journalSums.ts"

export type Client = typeof ClientId.Type
export type InvoiceKey = typeof InvoiceId.Type
export type PaymentKey = typeof PaymentId.Type
export type NoteKey = typeof CreditNoteId.Type

/** An invoice of one line, with what is credited of it. */
export interface InvoiceAccount extends Pick<CreditableInvoice, "taxSets" | "credited"> {
  readonly value: Invoice
  readonly line: CreditableLine
}

/** The invoices of a contract, and what settles them. */
export interface Accounts {
  readonly client: Client
  readonly contract: BilledContract
  readonly invoices: ReadonlyMap<string, InvoiceAccount>
  readonly payments: ReadonlyMap<string, Payment>
  /** Finalized credit notes, in the order of their identifiers. Drafts credit nothing. */
  readonly notes: ReadonlyMap<string, CreditNote>
  readonly journal: JournalSums
}

/** The time of everything. Nothing in settlement depends on it. */
export const at = "2026-11-14T09:30:00.000Z"

export const sum = (amounts: ReadonlyArray<number>) => amounts.reduce((total, amount) => total + amount, 0)

/** The accounts of a contract with nothing but these drafts. */
export const accountsOf = (client: Client, contract: string, drafts: ReadonlyArray<InvoiceAccount>): Accounts => ({
  client,
  contract: {
    id: contract,
    currencyCode: "EUR",
    capMinor: null,
    billedMinor: sum(drafts.map(({ value }) => netOf(value)))
  },
  invoices: new Map(drafts.map((draft) => [draft.value.id, draft])),
  payments: new Map(),
  notes: new Map(),
  journal: noEntries
})

const find = <A>(all: ReadonlyMap<string, A>, id: string): A => {
  const found = all.get(id)
  if (found === undefined) throw new Error(`${id} is not in the accounts`)
  return found
}

const put = <A extends { readonly id: string }>(all: ReadonlyMap<string, A>, value: A) =>
  new Map(all).set(value.id, value)

export const invoiceOf = ({ invoices }: Accounts, id: string) => find(invoices, id)
export const paymentOf = ({ payments }: Accounts, id: string) => find(payments, id)
export const noteOf = ({ notes }: Accounts, id: string) => find(notes, id)

export const putInvoice = (accounts: Accounts, account: InvoiceAccount): Accounts => ({
  ...accounts,
  invoices: new Map(accounts.invoices).set(account.value.id, account)
})

export const putPayment = (accounts: Accounts, payment: Payment): Accounts => ({
  ...accounts,
  payments: put(accounts.payments, payment)
})

export const putNote = (accounts: Accounts, note: CreditNote): Accounts => {
  const notes = put(accounts.notes, note)
  return { ...accounts, notes: new Map([...notes].sort(([a], [b]) => (a < b ? -1 : 1))) }
}

/** Changes what settles invoices. */
export const settle = (accounts: Accounts, settlements: ReadonlyArray<Settlement>): Accounts =>
  settlements.reduce((current, { changes, invoice }) => {
    const account = invoiceOf(current, invoice)
    return putInvoice(current, { ...account, value: settleInvoice(account.value, changes, at).value })
  }, accounts)

/** Changes what the contract has billed. */
export const bill = (accounts: Accounts, changeMinor: number): Accounts => ({
  ...accounts,
  contract: {
    ...accounts.contract,
    billedMinor: Either.getOrThrow(billedAfter(accounts.contract, [changeMinor], "lines"))
  }
})

/** Books entries. What they book is in the accounts. */
export const book = (accounts: Accounts, entries: ReadonlyArray<JournalEntry>): Accounts => {
  const findDocument: FindDocument = ({ creditNote, invoice, kind }) => {
    if (kind === "CREDIT_NOTE" && creditNote !== undefined) {
      const document = noteOf(accounts, creditNote)
      return { invoice: document.invoice, document }
    }
    return (kind === "INVOICE" || kind === "VOID") && invoice !== undefined
      ? { invoice, document: invoiceOf(accounts, invoice).value }
      : undefined
  }
  return {
    ...accounts,
    journal: entries.reduce((journal, entry) => addEntry(journal, entry, findDocument), accounts.journal)
  }
}
