import { Either } from "effect"
import {
  contentOf,
  creditInvoice,
  creditNoteAmounts,
  requireCreditable
} from "../../../src/domain/creditNotes/Crediting.ts"
import { type CreditNote, requireDraft, requireIssued } from "../../../src/domain/creditNotes/CreditNote.ts"
import { addCredits, alignWith } from "../../../src/domain/creditNotes/CreditTotals.ts"
import { issueCreditNote } from "../../../src/domain/creditNotes/OwnCredit.ts"
import { allTaxSets } from "../../../src/domain/invoicing/draft/TaxSets.ts"
import { netOf } from "../../../src/domain/invoicing/InvoiceTotals.ts"
import { allocationEntry, creditNoteEntry } from "../../../src/domain/journal/JournalEntry.ts"
import {
  type Accounts,
  at,
  bill,
  book,
  type InvoiceAccount,
  type InvoiceKey,
  invoiceOf,
  type NoteKey,
  noteOf,
  putInvoice,
  putNote,
  settle
} from "./accounts.ts"
import { creditMoves } from "./creditMoves.ts"
import { combine, operation } from "./operation.ts"

interface CreditTarget {
  readonly note: NoteKey
  readonly invoice: InvoiceKey
  /** A net amount of the line, or everything that is left. */
  readonly credit: number | "all"
}

const draftOf = (accounts: Accounts, { credit, invoice, note }: CreditTarget): CreditNote => ({
  id: note,
  invoice,
  client: accounts.client,
  status: "DRAFT",
  currencyCode: accounts.contract.currencyCode,
  reason: "Mistake",
  full: credit === "all",
  lines: credit === "all" ? [] : [{ billable: invoiceOf(accounts, invoice).line.id, amountMinor: credit }],
  subtotalMinor: 0,
  discountMinor: 0,
  taxes: [],
  taxMinor: 0,
  totalMinor: 0,
  allocations: [],
  unallocatedMinor: 0,
  refundedMinor: 0,
  createdAt: at,
  updatedAt: at
})

const creditableOf = ({ credited, taxSets, value }: InvoiceAccount) => ({ invoice: value, taxSets, credited })

/** Whether as much is left, of an invoice that can be credited. */
const requireLeft = (accounts: Accounts, target: CreditTarget) => {
  const account = invoiceOf(accounts, target.invoice)
  const creditable = creditableOf({ ...account, value: { ...account.value, status: "FINALIZED" } })
  const lines = new Map([[account.line.id as string, account.line]])
  return creditInvoice(creditable, contentOf(draftOf(accounts, target)), lines)
}

/** What the note credits, whether that much is left or not, and the invoice after it. */
const credit = (accounts: Accounts, target: CreditTarget) => {
  const account = invoiceOf(accounts, target.invoice)
  const draft = draftOf(accounts, target)
  const { creditedMinor, lineTotalMinor } = account.line
  const amountMinor = target.credit === "all" ? lineTotalMinor - creditedMinor : target.credit
  const line = { ...account.line, creditedMinor: creditedMinor + amountMinor }
  const sets = allTaxSets(account.taxSets, account.value)
  const before = alignWith(sets, account.credited)
  const after = addCredits(before, [{ line, amountMinor }]).map((set) => ({
    ...set,
    lineCount: line.creditedMinor === lineTotalMinor ? 1 : 0
  }))
  const { note: amounts } = Either.getOrThrow(creditNoteAmounts(creditableOf(account), before, after))
  const note = issueCreditNote(draft, { amounts, lines: draft.lines }, account.value.balanceMinor)
  return { note, account: { ...account, line, credited: after } }
}

export const creditInvoiceByNote = operation<CreditTarget>("credit an invoice", {
  targets: ({ credits, invoices, newNotes }, { notes }) => [
    ...combine<CreditTarget>({ note: newNotes, invoice: invoices, credit: credits }),
    ...[...notes.values()].map(({ full, id, invoice, lines }) => ({
      note: id,
      invoice,
      credit: full ? ("all" as const) : (lines[0]?.amountMinor ?? 0)
    }))
  ],
  toText: ({ credit, invoice, note }) =>
    `finalize ${note} on ${credit === "all" ? "all that is left" : `${credit} net`} of ${invoice}`,
  guards: {
    "a draft of a note": (accounts, target) => requireDraft(accounts.notes.get(target.note) ?? { status: "DRAFT" }),
    "an issued invoice": (accounts, { invoice }) => requireCreditable(invoiceOf(accounts, invoice).value),
    "what is left to credit": requireLeft
  },
  effect: (accounts, target) => {
    const { account, note } = credit(accounts, target)
    const credited = putNote(putInvoice(accounts, account), note)
    const changes = note.allocations.map(({ amountMinor, invoice }) => ({
      invoice,
      changes: { creditedMinor: amountMinor }
    }))
    return book(settle(bill(credited, -netOf(note)), changes), [
      creditNoteEntry(note.id, note.totalMinor, note.reason),
      ...note.allocations.map((allocation) => allocationEntry({ creditNote: note.id }, allocation))
    ])
  }
})

const moves = creditMoves({
  name: "credit note",
  choose: ({ notes }) => notes,
  get: noteOf,
  put: putNote,
  refOf: (creditNote: NoteKey) => ({ creditNote }),
  settles: "creditedMinor",
  requireUsable: requireIssued
})

export const { allocate: allocateNote, refund: refundNote } = moves
