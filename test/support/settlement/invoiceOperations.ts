import { useOwnCredit } from "../../../src/domain/creditNotes/OwnCredit.ts"
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
import { requireWriteOff, requireWrittenOff } from "../../../src/domain/settlement/Settlement.ts"
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

/** The part of the decision about voiding that looks at credit notes, whatever the status. */
const requireNothingCredited = (accounts: Accounts, target: OfInvoice) => {
  const note = [...accounts.notes.values()].find(({ invoice }) => invoice === target.invoice)
  const obstacles = note === undefined ? {} : { creditNote: { number: note.id, at: "" } }
  return requireVoidable({ ...valueOf(accounts, target), status: "FINALIZED" }, obstacles)
}

export const voidInvoice = operation<OfInvoice>("void an invoice", {
  targets: ({ invoices }) => combine({ invoice: invoices }),
  toText: ({ invoice }) => `void ${invoice}`,
  guards: {
    "not paid and not void": (accounts, target) => about("status", requireVoidable(valueOf(accounts, target), {})),
    "nothing settled": (accounts, target) => about("balanceMinor", requireVoidable(valueOf(accounts, target), {})),
    "nothing credited": (accounts, target) => about("status", requireNothingCredited(accounts, target))
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
