import { Either } from "effect"
import type { ValidationError } from "../../../src/domain/Errors.ts"
import { requireNoErrors } from "../../../src/domain/Errors.ts"
import type { SettledSums } from "../../../src/domain/invoicing/Invoice.ts"
import { allocationEntry, type Credit, refundEntry } from "../../../src/domain/journal/JournalEntry.ts"
import {
  type Allocated,
  allocate,
  type CreditSource,
  refund,
  unallocatedErrors
} from "../../../src/domain/payments/Allocation.ts"
import { type AllocatedInvoice, allocationErrors } from "../../../src/domain/settlement/Settlement.ts"
import { type Accounts, book, type InvoiceKey, invoiceOf, settle } from "./accounts.ts"
import { type Choices, combine, operation, violating } from "./operation.ts"

/** A kind of what settles invoices: payments or credit notes. */
interface Kind<Id extends string, A> {
  readonly name: CreditSource
  readonly choose: (choices: Choices) => ReadonlyArray<Id>
  readonly get: (accounts: Accounts, id: Id) => A
  readonly put: (accounts: Accounts, value: A) => Accounts
  readonly refOf: (id: Id) => Credit
  readonly settles: keyof SettledSums
  readonly requireUsable: (value: A) => Either.Either<void, ValidationError>
}

export interface Refund<Id> {
  readonly from: Id
  readonly amountMinor: number
}

export interface Allocate<Id> extends Refund<Id> {
  readonly invoice: InvoiceKey
}

export const allocatedInvoice = (accounts: Accounts, id: string): AllocatedInvoice => ({
  invoice: invoiceOf(accounts, id).value,
  client: accounts.client
})

/** Allocations and refunds of what is left of a payment or a credit note. */
export const creditMoves = <
  Id extends string,
  A extends Allocated & { readonly client: string; readonly currencyCode: string }
>({
  choose,
  get,
  name,
  put,
  refOf,
  requireUsable,
  settles
}: Kind<Id, A>) => {
  /** What cannot be used has nothing left, so each of the two refuses what the other one does. */
  const requireLeft = (accounts: Accounts, { amountMinor, from }: Refund<Id>) => {
    const value = get(accounts, from)
    return Either.flatMap(requireUsable(value), () => requireNoErrors(unallocatedErrors(name, value, amountMinor)))
  }

  const errorsOf = (accounts: Accounts, { amountMinor, from, invoice }: Allocate<Id>) => {
    const { client, currencyCode } = get(accounts, from)
    return allocationErrors("", amountMinor, allocatedInvoice(accounts, invoice), {
      source: name,
      client,
      currencyCode
    })
  }

  return {
    allocate: operation<Allocate<Id>>(`allocate a ${name}`, {
      targets: (choices) => combine({ from: choose(choices), invoice: choices.invoices, amountMinor: choices.amounts }),
      toText: ({ amountMinor, from, invoice }) => `allocate ${amountMinor} of ${from} to ${invoice}`,
      guards: {
        "what is left of it": requireLeft,
        "to a finalized invoice": (accounts, target) => violating("state", errorsOf(accounts, target)),
        "up to the balance": (accounts, target) => violating("max", errorsOf(accounts, target))
      },
      effect: (accounts, { amountMinor, from, invoice }) => {
        const added = { invoice, amountMinor }
        const used = put(accounts, Either.getOrThrow(allocate(name, get(accounts, from), added)))
        const settled = settle(used, [{ invoice, changes: { [settles]: amountMinor } }])
        return book(settled, [allocationEntry(refOf(from), added)])
      }
    }),

    refund: operation<Refund<Id>>(`refund a ${name}`, {
      targets: (choices) => combine({ from: choose(choices), amountMinor: choices.amounts }),
      toText: ({ amountMinor, from }) => `refund ${amountMinor} of ${from}`,
      guards: { "what is left of it": requireLeft },
      effect: (accounts, { amountMinor, from }) =>
        book(put(accounts, refund(get(accounts, from), amountMinor)), [
          refundEntry(refOf(from), amountMinor, undefined)
        ])
    })
  }
}
