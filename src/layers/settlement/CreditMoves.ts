import { Effect } from "effect"
import { type NotFound, type PreconditionFailed, requireNoErrors, type ValidationError } from "../../domain/Errors.ts"
import type { SettledSums } from "../../domain/invoicing/Invoice.ts"
import { allocationEntry, type Credit, type JournalEntry, refundEntry } from "../../domain/journal/JournalEntry.ts"
import {
  type Allocated,
  type Allocation,
  allocate,
  type CreditSource,
  type NewAllocation,
  refund,
  unallocatedErrors
} from "../../domain/payments/Allocation.ts"
import { allocationErrors } from "../../domain/settlement/Settlement.ts"
import type { CurrentTenant, IfMatch } from "../../domain/tenancy/RequestContext.ts"
import type { Versioned } from "../infra/postgres/repository/ResourceSpec.ts"
import type { WriteOptions } from "../infra/postgres/repository/ResourceWriter.ts"
import { Journal } from "../journal/Journal.ts"
import { type LockedInvoices, SettledInvoices } from "./SettledInvoices.ts"

/** A payment or a credit note. */
interface Source extends Allocated {
  readonly id: string
  readonly client: string
  readonly currencyCode: string
}

/** The repository of payments or credit notes. */
interface Sources<A> {
  readonly get: (id: string) => Effect.Effect<A, NotFound, CurrentTenant>
  readonly lockForWrite: (
    id: string
  ) => Effect.Effect<Versioned<A>, NotFound | PreconditionFailed, CurrentTenant | IfMatch>
  readonly updateLocked: (
    version: Versioned<A>,
    action: "allocated" | "refunded",
    next: A,
    options: WriteOptions
  ) => Effect.Effect<A, ValidationError | NotFound, CurrentTenant>
}

interface Kind<A> {
  readonly name: CreditSource
  readonly table: "payments" | "credit_notes"
  readonly refOf: (id: string) => Credit
  /** The sum of an invoice that its allocations add to. */
  readonly settles: keyof SettledSums
  /** Fails unless the source can be used. */
  readonly requireUsable: (value: A) => Effect.Effect<void, ValidationError>
}

interface Refund {
  readonly amountMinor: number
  readonly reference?: string
}

/**
 * Allocations and refunds of what is left of payments or credit notes. Each one locks the client, then the invoices by
 * id, then the source. The fixed order prevents deadlocks.
 */
export const makeCreditMoves = <A extends Source>(
  { name, refOf, requireUsable, settles, table }: Kind<A>,
  sources: Sources<A>
) =>
  Effect.zipWith(Journal, SettledInvoices, (journal, settled) => {
    /** While the client is locked, nobody else can change the source. */
    const lock = Effect.fnUntraced(function* (id: string, invoicesOf: (source: A) => ReadonlyArray<string>) {
      yield* settled.lockClientOf(table, id)
      const invoices = yield* settled.lock(invoicesOf(yield* sources.get(id)))
      return { invoices, source: yield* sources.lockForWrite(id) }
    })

    const toSettlements = (allocations: ReadonlyArray<Allocation>) =>
      allocations.map(({ amountMinor, invoice }) => ({ invoice, changes: { [settles]: amountMinor } }))

    /** Writes a locked source with an entry and the invoice that it settles, and commits. */
    const update = Effect.fnUntraced(function* (
      { invoices, source }: { readonly invoices: LockedInvoices; readonly source: Versioned<A> },
      action: "allocated" | "refunded",
      { allocations = [], entry, next }: { next: A; entry: JournalEntry; allocations?: ReadonlyArray<Allocation> }
    ) {
      const at = new Date().toISOString()
      const { ctes } = yield* settled.buildUpdates(invoices, next.client, toSettlements(allocations), at)
      return yield* sources.updateLocked(source, action, next, {
        extraCtes: [yield* journal.buildBooking(next, [entry]), ...ctes],
        commit: true
      })
    })

    return {
      lock,
      toSettlements,

      allocate: Effect.fnUntraced(function* (id: string, { amountMinor, invoiceId }: NewAllocation) {
        const locked = yield* lock(id, () => [invoiceId])
        const { value } = locked.source
        yield* requireUsable(value)
        const { client, currencyCode } = value
        yield* requireNoErrors([
          ...unallocatedErrors(name, value, amountMinor),
          ...allocationErrors("", amountMinor, locked.invoices.get(invoiceId), { source: name, client, currencyCode })
        ])
        const added = { invoice: invoiceId, amountMinor }
        return yield* update(locked, "allocated", {
          next: yield* allocate(name, value, added),
          entry: allocationEntry(refOf(id), added),
          allocations: [added]
        })
      }),

      refund: Effect.fnUntraced(function* (id: string, { amountMinor, reference }: Refund) {
        const locked = yield* lock(id, () => [])
        const { value } = locked.source
        yield* requireUsable(value)
        yield* requireNoErrors(unallocatedErrors(name, value, amountMinor))
        return yield* update(locked, "refunded", {
          next: refund(value, amountMinor),
          entry: refundEntry(refOf(id), amountMinor, reference)
        })
      })
    }
  })
