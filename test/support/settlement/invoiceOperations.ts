import { Either } from "effect"
import { useOwnCredit } from "../../../src/domain/creditNotes/OwnCredit.ts"
import { fieldError } from "../../../src/domain/Errors.ts"
import type { Parties } from "../../../src/domain/invoicing/document/Parties.ts"
import { requireFinalizable } from "../../../src/domain/invoicing/InvoiceFinalization.ts"
import {
  invoiceTransitions,
  requireInvoiceTransition,
  requireVoidable
} from "../../../src/domain/invoicing/InvoiceStatus.ts"
import { netOf } from "../../../src/domain/invoicing/InvoiceTotals.ts"
import {
  allocationEntry,
  invoiceEntry,
  voidEntry,
  writeOffEntry,
  writeOffReversalEntry
} from "../../../src/domain/journal/JournalEntry.ts"
import { requireWriteOff, requireWrittenOff } from "../../../src/domain/payments/Settlement.ts"
import { type Accounts, bill, book, type InvoiceKey, invoiceOf, putInvoice, putNote, settle, sum } from "./accounts.ts"
import { about, combine, operation } from "./operation.ts"

interface OfInvoice {
  readonly invoice: InvoiceKey
}

const valueOf = (accounts: Accounts, { invoice }: OfInvoice) => invoiceOf(accounts, invoice).value

const parties: Parties = { tenant: { name: "Tenant" }, client: { name: "Client" }, contract: { name: "Contract" } }

export const finalizeInvoice = operation<OfInvoice>("finalize an invoice", {
  targets: ({ invoices }) => combine({ invoice: invoices }),
  toText: ({ invoice }) => `finalize ${invoice}`,
  guards: { "a draft": (accounts, target) => requireFinalizable(valueOf(accounts, target), parties) },
  effect: (accounts, { invoice }) => {
    const account = invoiceOf(accounts, invoice)
    const value = { ...account.value, status: invoiceTransitions.finalize.to, invoiceNumber: invoice }
    return book(putInvoice(accounts, { ...account, value }), [invoiceEntry(invoice, value.totalMinor)])
  }
})

/** A voided invoice bills nothing any more, so nothing of it can be credited besides. */
const requireNothingCredited = ({ notes }: Accounts, { invoice }: OfInvoice) =>
  [...notes.values()].some((note) => note.invoice === invoice)
    ? Either.left(fieldError("status", "state", "an invoice with a finalized credit note cannot be voided"))
    : Either.void

export const voidInvoice = operation<OfInvoice>("void an invoice", {
  targets: ({ invoices }) => combine({ invoice: invoices }),
  toText: ({ invoice }) => `void ${invoice}`,
  guards: {
    "not paid and not void": (accounts, target) => about("status", requireVoidable(valueOf(accounts, target))),
    "nothing settled": (accounts, target) => about("balanceMinor", requireVoidable(valueOf(accounts, target))),
    "nothing credited": requireNothingCredited
  },
  effect: (accounts, { invoice }) => {
    const account = invoiceOf(accounts, invoice)
    const { invoiceNumber, totalMinor } = account.value
    const value = { ...account.value, status: invoiceTransitions.void.to, balanceMinor: 0 }
    const voided = bill(putInvoice(accounts, { ...account, value }), -netOf(value))
    return invoiceNumber === undefined ? voided : book(voided, [voidEntry(invoice, totalMinor)])
  }
})

interface WriteOff extends OfInvoice {
  readonly amountMinor: number
}

export const writeOff = operation<WriteOff>("write off", {
  targets: ({ amounts, invoices }) => combine({ invoice: invoices, amountMinor: amounts }),
  toText: ({ amountMinor, invoice }) => `write off ${amountMinor} of ${invoice}`,
  guards: {
    "a finalized invoice": (accounts, target) =>
      about("status", requireWriteOff(valueOf(accounts, target), target.amountMinor)),
    "up to its balance": (accounts, target) =>
      about("amountMinor", requireWriteOff(valueOf(accounts, target), target.amountMinor))
  },
  effect: (accounts, { amountMinor, invoice }) =>
    book(settle(accounts, [{ invoice, changes: { writtenOffMinor: amountMinor } }]), [
      writeOffEntry(invoice, amountMinor, "Goodwill")
    ])
})

export const takeBackWriteOff = operation<OfInvoice>("take back a write-off", {
  targets: ({ invoices }) => combine({ invoice: invoices }),
  toText: ({ invoice }) => `take back what is written off of ${invoice}`,
  guards: { "something written off": (accounts, target) => requireWrittenOff(valueOf(accounts, target)) },
  effect: (accounts, { invoice }) => {
    const amountMinor = invoiceOf(accounts, invoice).value.writtenOffMinor
    const own = useOwnCredit([{ invoice, amountMinor }], [...accounts.notes.values()])
    const creditedMinor = sum(own.map(({ allocation }) => allocation.amountMinor))
    const changes = { writtenOffMinor: -amountMinor, creditedMinor }
    return book(
      settle(
        own.reduce((current, { note }) => putNote(current, note), accounts),
        [{ invoice, changes }]
      ),
      [
        writeOffReversalEntry(invoice, amountMinor),
        ...own.map(({ allocation, note }) => allocationEntry({ creditNote: note.id }, allocation))
      ]
    )
  }
})

export const requirePayable = (accounts: Accounts, target: OfInvoice) =>
  requireInvoiceTransition(valueOf(accounts, target).status, "pay")
