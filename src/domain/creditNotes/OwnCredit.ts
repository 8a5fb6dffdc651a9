import { Either } from "effect"
import { type Allocation, allocate } from "../payments/Allocation.ts"
import type { CreditNote } from "./CreditNote.ts"

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
