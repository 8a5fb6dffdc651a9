import { Either } from "effect"
import { type Allocation, allocate } from "../payments/Allocation.ts"
import type { Settlement } from "../settlement/Settlement.ts"
import type { Credit } from "./Crediting.ts"
import type { CreditNote } from "./CreditNote.ts"

/** A draft as it is finalized, before it has a number: it settles the balance of its own invoice first. */
export const issueCreditNote = (
  draft: CreditNote,
  { amounts, lines }: Pick<Credit, "amounts" | "lines">,
  balanceMinor: number
): CreditNote => {
  const { discountShares: _, ...sums } = amounts
  const settledMinor = Math.min(sums.totalMinor, balanceMinor)
  return {
    ...draft,
    status: "FINALIZED",
    lines,
    ...sums,
    allocations: settledMinor === 0 ? [] : [{ invoice: draft.invoice, amountMinor: settledMinor }],
    unallocatedMinor: sums.totalMinor - settledMinor
  }
}

/** A credit note after it settles a part of its own invoice. */
export interface OwnCreditUse {
  readonly note: CreditNote
  readonly allocation: Allocation
}

/**
 * What is left of credit notes settles their own invoices before a reversal opens these again. `notes` are those of the
 * invoices, the first ones first.
 */
export const useOwnCredit = (
  reopened: ReadonlyArray<Allocation>,
  notes: ReadonlyArray<CreditNote>
): ReadonlyArray<OwnCreditUse> =>
  reopened.flatMap(({ amountMinor, invoice }) => {
    const uses: Array<OwnCreditUse> = []
    let openMinor = amountMinor
    for (const note of notes.filter((candidate) => candidate.invoice === invoice)) {
      const allocation = { invoice, amountMinor: Math.min(openMinor, note.unallocatedMinor) }
      const used = allocation.amountMinor > 0 ? allocate("credit note", note, allocation) : undefined
      // A note that settles the maximum number of invoices keeps what it has left.
      if (used === undefined || Either.isLeft(used)) continue
      uses.push({ note: used.right, allocation })
      openMinor -= allocation.amountMinor
    }
    return uses
  })

/** How invoices change when a payment that settled `reversed` is taken back, and their notes settle `credited`. */
export const reopenInvoices = (
  reversed: ReadonlyArray<Allocation>,
  credited: ReadonlyArray<Allocation>
): ReadonlyArray<Settlement> =>
  reversed.map(({ amountMinor, invoice }) => ({
    invoice,
    changes: {
      paidMinor: -amountMinor,
      creditedMinor: credited
        .filter((allocation) => allocation.invoice === invoice)
        .reduce((sum, allocation) => sum + allocation.amountMinor, 0)
    }
  }))
