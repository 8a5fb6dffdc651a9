import type { Allocated } from "../../../src/domain/payments/Allocation.ts"
import type { Accounts, InvoiceAccount } from "./accounts.ts"
import { sumsOf } from "./journalSums.ts"

const usesOf = ({ allocations, refundedMinor, unallocatedMinor }: Allocated, places: ReadonlyMap<string, number>) => {
  const allocated = allocations.map(({ amountMinor, invoice }) => `${places.get(invoice)}:${amountMinor}`).sort()
  return `${unallocatedMinor} ${refundedMinor} ${allocated.join()}`
}

const stateOfInvoice = ({ credited, line, value }: InvoiceAccount, { journal }: Accounts) => {
  const { openMinor, netMinor, taxMinor, ...settled } = sumsOf(journal, value.id)
  const own = [value.status, value.invoiceNumber !== undefined, value.balanceMinor, line.creditedMinor]
  const sums = [value.paidMinor, value.creditedMinor, value.writtenOffMinor, ...Object.values(settled)]
  const sets = credited.map((set) => `${set.netMinor}:${set.lineCount}`)
  return [...own, ...sums, openMinor, netMinor, taxMinor, ...sets].join(" ")
}

/** The accounts as a text, with the invoices in this order. */
const stateInOrder = (accounts: Accounts, invoices: ReadonlyArray<InvoiceAccount>) => {
  const { contract, journal, notes, payments } = accounts
  const places = new Map(invoices.map(({ value }, index) => [value.id as string, index]))
  const unusedOf = (id: string) => journal.unused.get(id)
  const paid = [...payments.values()].map(
    (one) => `${one.status} ${one.amountMinor} ${unusedOf(one.id)} ${usesOf(one, places)}`
  )
  const credited = invoices.map(({ value }) =>
    [...notes.values()]
      .filter(({ invoice }) => invoice === value.id)
      .map(
        (note) => `${note.full} ${note.subtotalMinor} ${note.totalMinor} ${unusedOf(note.id)} ${usesOf(note, places)}`
      )
      .join("+")
  )
  return [
    contract.billedMinor,
    journal.receivedMinor,
    journal.refundedMinor,
    ...invoices.map((invoice) => stateOfInvoice(invoice, accounts)),
    ...paid.sort(),
    ...credited
  ].join("|")
}

/**
 * The same text for accounts that differ in names alone. The two invoices bill the same, and no operation depends on the
 * order of payments, so both can be exchanged. The notes of one invoice keep their order: what is left of the first one
 * is used first.
 */
export const canonicalState = (accounts: Accounts) => {
  const invoices = [...accounts.invoices.values()]
  const [one, other] = [stateInOrder(accounts, invoices), stateInOrder(accounts, invoices.toReversed())]
  return one < other ? one : other
}
