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

const millisPerDay = 86_400_000

const addDays = (issuedAt: string, days: number) => new Date(Date.parse(issuedAt) + days * millisPerDay).toISOString()

/**
 * Transitions of an invoice: finalize, pay, void, and the deletion of a draft. Each one locks the contract, then the
 * invoice.
 */
export class InvoiceMoves extends Effect.Service<InvoiceMoves>()("layers/InvoiceLifecycle", {
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
    const contractCap = yield* ContractGuard
    const numbers = yield* InvoiceNumbers
    const invoices = yield* Invoices
    const parties = yield* Parties
    const images = yield* InvoiceImages
    const files = yield* InvoiceFileQueue

    /** Locks the contract and the invoice, checks `If-Match`, and runs `transition` in the same transaction. */
    const withLocked = <A, E, R>(
      id: string,
      transition: (contract: HeldContract, invoice: Versioned<Invoice>) => Effect.Effect<A, E, R>
    ) =>
      contractCap.hold(id).pipe(
        Effect.flatMap(({ contract, invoice }) =>
          Effect.flatMap(invoices.accepted(invoice), (current) => transition(contract, current))
        ),
        atomically(sql)
      )

    const applyTransition = (
      name: InvoiceMove,
      current: Versioned<Invoice>,
      changes: Partial<Invoice> = {},
      options: Along = {}
    ) => {
      const { event, to } = invoiceMoves[name]
      return invoices.rewrite(
        current,
        event,
        { ...current.value, ...changes, status: to },
        { ...options, isLast: true }
      )
    }

    const requireComplete = ({ billableCount, totalMinor }: Invoice) => {
      if (billableCount === 0) return Effect.fail(breaks("billableCount", "min", "must be at least 1 to be finalized"))
      return totalMinor < 0
        ? Effect.fail(breaks("totalMinor", "min", "must not be negative to be finalized"))
        : Effect.void
    }

    /**
     * Allocates the number late, because that locks the tenant's series until the transaction ends. A failure rolls the
     * number back, so that the series stays without gaps.
     */
    const finalize = Effect.fnUntraced(function* (contract: HeldContract, current: Versioned<Invoice>) {
      const { value } = current
      yield* mayMove(value.status, "finalize")
      yield* requireComplete(value)
      const frozen = yield* parties.of(value.contract)
      yield* images.freeze(value.id, value.contract)
      const { invoiceNumber, issuedAt, period, place } = yield* numbers.next
      const dueAt = value.dueAt ?? addDays(issuedAt, contract.paymentTermDays)
      if (dueAt < issuedAt)
        return yield* Effect.fail(breaks("dueAt", "min", "must not be before the invoice is issued"))
      return yield* applyTransition(
        "finalize",
        current,
        { invoiceNumber, issuedAt, dueAt },
        {
          columns: { period, place, parties: JSON.stringify(frozen) },
          besides: [yield* files.enqueuing(value.id, "ISSUED")]
        }
      )
    })

    /** Builds the CTE that releases the references of an invoice's lines, so that they can be billed again. */
    const buildRelease = (invoice: string) =>
      Effect.map(
        CurrentTenant,
        (tenant) =>
          sql`released as (
          update billables set released = true
          where tenant_id = ${tenant} and invoice_id = ${invoice} and reference_id is not null)`
      )

    return {
      finalize: (id: string) => withLocked(id, finalize),

      pay: (id: string) =>
        withLocked(id, (_, current) =>
          Effect.zipRight(
            mayMove(current.value.status, "pay"),
            applyTransition("pay", current, { paidAt: new Date().toISOString() })
          )
        ),

      void: (id: string) =>
        withLocked(id, (contract, current) =>
          Effect.gen(function* () {
            yield* mayMove(current.value.status, "void")
            const billedUpdate = yield* contractCap.billing(contract, [-current.value.totalMinor], "status")
            const wasIssued = current.value.invoiceNumber !== undefined
            const fileJobs = wasIssued ? [yield* files.enqueuing(id, "VOID")] : []
            return yield* applyTransition(
              "void",
              current,
              {},
              { besides: [yield* buildRelease(id), ...billedUpdate, ...fileJobs] }
            )
          })
        ),

      /** Deletes a draft with its lines. */
      remove: (id: string) =>
        withLocked(id, (contract, current) =>
          Effect.gen(function* () {
            yield* mayEdit(current.value.status)
            const linesDeletion = yield* billables.discardingMany(
              yield* billables.all({ invoice: id }),
              contract.client
            )
            const billedUpdate = yield* contractCap.billing(contract, [-current.value.totalMinor], "status")
            yield* invoices.discard(current, { besides: [linesDeletion, ...billedUpdate], isLast: true })
          })
        )
    }
  })
}) {}
