import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { breaks } from "../../domain/Errors.ts"
import type { Invoice } from "../../domain/invoicing/Invoice.ts"
import { type InvoiceMove, invoiceMoves, mayEdit, mayMove } from "../../domain/invoicing/InvoiceStatus.ts"
import { CurrentTenant } from "../../domain/tenancy/Caller.ts"
import { atomically } from "../postgres/connection/Transaction.ts"
import type { Versioned } from "../postgres/repository/ResourceSpec.ts"
import type { Along } from "../postgres/repository/ResourceWriting.ts"
import { Billables } from "./Billables.ts"
import { ContractGuard, type HeldContract } from "./ContractGuard.ts"
import { InvoiceFileQueue } from "./InvoiceFileQueue.ts"
import { InvoiceImages } from "./InvoiceImages.ts"
import { InvoiceNumbers } from "./InvoiceNumbers.ts"
import { Invoices } from "./Invoices.ts"
import { Parties } from "./Parties.ts"

const dayInMillis = 86_400_000

const dueAfter = (issuedAt: string, days: number) => new Date(Date.parse(issuedAt) + days * dayInMillis).toISOString()

/** What an invoice goes through: finalized, paid, void, or deleted while it is a draft. */
export class InvoiceMoves extends Effect.Service<InvoiceMoves>()("layers/InvoiceMoves", {
  dependencies: [
    Billables.Default,
    ContractGuard.Default,
    InvoiceNumbers.Default,
    Invoices.Default,
    Parties.Default,
    InvoiceImages.Default,
    InvoiceFileQueue.Default
  ],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const billables = yield* Billables
    const guard = yield* ContractGuard
    const numbers = yield* InvoiceNumbers
    const invoices = yield* Invoices
    const parties = yield* Parties
    const images = yield* InvoiceImages
    const files = yield* InvoiceFileQueue

    /** Works on an invoice and its contract, both held, in this order. */
    const holding = <A, E, R>(
      id: string,
      work: (contract: HeldContract, invoice: Versioned<Invoice>) => Effect.Effect<A, E, R>
    ) =>
      guard.hold(id).pipe(
        Effect.flatMap(({ contract, invoice }) =>
          Effect.flatMap(invoices.accepted(invoice), (seen) => work(contract, seen))
        ),
        atomically(sql)
      )

    const move = (name: InvoiceMove, seen: Versioned<Invoice>, sets: Partial<Invoice> = {}, along: Along = {}) => {
      const { event, to } = invoiceMoves[name]
      return invoices.rewrite(seen, event, { ...seen.value, ...sets, status: to }, { ...along, isLast: true })
    }

    const isComplete = ({ billableCount, totalMinor }: Invoice) => {
      if (billableCount === 0) return Effect.fail(breaks("billableCount", "min", "must be at least 1 to be finalized"))
      return totalMinor < 0
        ? Effect.fail(breaks("totalMinor", "min", "must not be negative to be finalized"))
        : Effect.void
    }

    /** The number is taken last, when nothing but the database itself can still refuse. */
    const finalize = Effect.fnUntraced(function* (contract: HeldContract, seen: Versioned<Invoice>) {
      const { value } = seen
      yield* mayMove(value.status, "finalize")
      yield* isComplete(value)
      const frozen = yield* parties.of(value.contract)
      yield* images.freeze(value.id, value.contract)
      const { invoiceNumber, issuedAt, period, place } = yield* numbers.next
      const dueAt = value.dueAt ?? dueAfter(issuedAt, contract.paymentTermDays)
      if (dueAt < issuedAt)
        return yield* Effect.fail(breaks("dueAt", "min", "must not be before the invoice is issued"))
      return yield* move(
        "finalize",
        seen,
        { invoiceNumber, issuedAt, dueAt },
        {
          columns: { period, place, parties: JSON.stringify(frozen) },
          besides: [yield* files.enqueuing(value.id, "ISSUED")]
        }
      )
    })

    /** What lets go of everything the lines of an invoice refer to, as a part of another change. */
    const releasing = (invoice: string) =>
      Effect.map(
        CurrentTenant,
        (tenant) =>
          sql`released as (
          update billables set released = true
          where tenant_id = ${tenant} and invoice_id = ${invoice} and reference_id is not null)`
      )

    return {
      finalize: (id: string) => holding(id, finalize),

      pay: (id: string) =>
        holding(id, (_, seen) =>
          Effect.zipRight(mayMove(seen.value.status, "pay"), move("pay", seen, { paidAt: new Date().toISOString() }))
        ),

      void: (id: string) =>
        holding(id, (contract, seen) =>
          Effect.gen(function* () {
            yield* mayMove(seen.value.status, "void")
            const billing = yield* guard.billing(contract, [-seen.value.totalMinor], "status")
            const wasIssued = seen.value.invoiceNumber !== undefined
            const marking = wasIssued ? [yield* files.enqueuing(id, "VOID")] : []
            return yield* move("void", seen, {}, { besides: [yield* releasing(id), ...billing, ...marking] })
          })
        ),

      /** A draft goes with its lines. */
      remove: (id: string) =>
        holding(id, (contract, seen) =>
          Effect.gen(function* () {
            yield* mayEdit(seen.value.status)
            const discarding = yield* billables.discardingMany(yield* billables.all({ invoice: id }), contract.client)
            const billing = yield* guard.billing(contract, [-seen.value.totalMinor], "status")
            yield* invoices.discard(seen, { besides: [discarding, ...billing], isLast: true })
          })
        )
    }
  })
}) {}
