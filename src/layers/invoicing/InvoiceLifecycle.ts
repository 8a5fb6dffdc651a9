import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { billedAfter } from "../../domain/contracting/ContractCap.ts"
import type { Invoice } from "../../domain/invoicing/Invoice.ts"
import { dueDateOf, requireFinalizable } from "../../domain/invoicing/InvoiceFinalization.ts"
import {
  type InvoiceTransition,
  invoiceTransitions,
  requireEditableInvoice,
  requireVoidable
} from "../../domain/invoicing/InvoiceStatus.ts"
import { netOf } from "../../domain/invoicing/InvoiceTotals.ts"
import { invoiceEntry, voidEntry } from "../../domain/journal/JournalEntry.ts"
import { defaultTimeZone } from "../../domain/locale/TimeZone.ts"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import { inTransaction, type TransactionMode, withMode } from "../infra/postgres/connection/Transactions.ts"
import type { Versioned } from "../infra/postgres/repository/ResourceSpec.ts"
import type { WriteOptions } from "../infra/postgres/repository/ResourceWriter.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { Journal } from "../journal/Journal.ts"
import { Billables } from "./Billables.ts"
import { ContractCap, type LockedInvoice } from "./ContractCap.ts"
import { InvoiceFileQueue } from "./document/InvoiceFileQueue.ts"
import { InvoiceImageStore } from "./document/InvoiceImageStore.ts"
import { InvoiceParties } from "./document/InvoiceParties.ts"
import { InvoiceDrafts } from "./InvoiceDrafts.ts"
import { Invoices } from "./Invoices.ts"
import { InvoiceNumbers } from "./NumberSeries.ts"
import { makeFindVoidObstacles } from "./VoidObstacles.ts"

const accountOf = ({ contract: { client }, invoice }: LockedInvoice) => ({
  client,
  currencyCode: invoice.value.currencyCode
})

/**
 * Transitions of an invoice: finalize, void, and the deletion of a draft. Each one locks the contract, then the
 * invoice.
 */
export class InvoiceLifecycle extends Effect.Service<InvoiceLifecycle>()("layers/InvoiceLifecycle", {
  dependencies: [
    Billables.Default,
    ContractCap.Default,
    InvoiceDrafts.Default,
    InvoiceNumbers.Default,
    Invoices.Default,
    InvoiceParties.Default,
    InvoiceImageStore.Default,
    InvoiceFileQueue.Default,
    Journal.Default
  ],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const billables = yield* Billables
    const contractCap = yield* ContractCap
    const drafts = yield* InvoiceDrafts
    const numbers = yield* InvoiceNumbers
    const invoices = yield* Invoices
    const parties = yield* InvoiceParties
    const images = yield* InvoiceImageStore
    const files = yield* InvoiceFileQueue
    const journal = yield* Journal
    const findVoidObstacles = makeFindVoidObstacles(sql)

    /** Locks the contract and the invoice, checks `If-Match`, and runs `transition` in the same transaction. */
    const withLocked = <A, E, R>(id: string, transition: (locked: LockedInvoice) => Effect.Effect<A, E, R>) =>
      contractCap.lockContractAndInvoice(id).pipe(
        Effect.flatMap((locked) => Effect.zipRight(invoices.requireIfMatch(locked.invoice), transition(locked))),
        inTransaction(sql)
      )

    const applyTransition = (
      name: InvoiceTransition,
      current: Versioned<Invoice>,
      changes: Partial<Invoice>,
      options: WriteOptions
    ) => {
      const { event, to } = invoiceTransitions[name]
      return invoices.updateLocked(current, event, { ...current.value, ...changes, status: to }, options)
    }

    /** An invoice with a total of 0 is paid as soon as it is finalized. */
    const closeIfZero = (sequence: number, value: Invoice) => {
      if (value.totalMinor !== 0) return Effect.succeed(value)
      const change = { paidAt: value.issuedAt ?? value.updatedAt }
      return applyTransition("pay", { sequence, value }, change, { commit: true })
    }

    /**
     * Allocates the number late, because that locks the tenant's series until the transaction ends. A failure rolls the
     * number back, so that the series stays without gaps.
     */
    const finalize = Effect.fnUntraced(function* (locked: LockedInvoice) {
      const { contract, invoice: current } = locked
      // The names and exemption reasons of the rates may have changed since the last change of a line.
      const value = yield* drafts.computeTotals(locked)
      const frozen = yield* parties.loadByContract(value.contract)
      yield* requireFinalizable(value, frozen)
      yield* images.freeze(value.id, value.contract)
      const { timeZone = defaultTimeZone } = frozen.tenant
      const { issuedAt, number: invoiceNumber, period, place } = yield* numbers.allocate(timeZone)
      const dueAt = yield* dueDateOf(value, issuedAt, contract.paymentTermDays, timeZone)
      const booking = yield* journal.buildBooking(
        accountOf(locked),
        [invoiceEntry(value.id, value.totalMinor)],
        issuedAt
      )
      const finalized = yield* applyTransition(
        "finalize",
        current,
        { ...value, invoiceNumber, issuedAt, dueAt },
        {
          columns: { period, place, parties: JSON.stringify(frozen) },
          extraCtes: [yield* files.buildEnqueue(value.id, "ISSUED"), booking],
          commit: value.totalMinor !== 0
        }
      )
      return yield* closeIfZero(current.sequence + 1, finalized)
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

    const voidInvoice = Effect.fnUntraced(function* (locked: LockedInvoice) {
      const { contract, invoice: current } = locked
      const { id, invoiceNumber, totalMinor } = current.value
      yield* requireVoidable(current.value, invoiceNumber === undefined ? {} : yield* findVoidObstacles(id))
      yield* billedAfter(contract, [-netOf(current.value)], "status")
      const issuedCtes =
        invoiceNumber === undefined
          ? []
          : [
              yield* files.buildEnqueue(id, "VOID"),
              yield* journal.buildBooking(accountOf(locked), [voidEntry(id, totalMinor)])
            ]
      const extraCtes = [yield* buildRelease(id), ...issuedCtes]
      return yield* applyTransition("void", current, { balanceMinor: 0 }, { extraCtes, commit: true })
    })

    return {
      finalize: (id: string, mode?: TransactionMode) => withMode(sql, mode)(withLocked(id, finalize)),

      void: (id: string, mode?: TransactionMode) => withMode(sql, mode)(withLocked(id, voidInvoice)),

      /** Deletes a draft with its lines. */
      remove: (id: string) =>
        withLocked(id, ({ contract, invoice: current }) =>
          Effect.gen(function* () {
            yield* requireEditableInvoice(current.value.status)
            const linesDeletion = yield* billables.buildBulkDelete(
              yield* billables.listAll({ invoice: id }),
              contract.client
            )
            yield* billedAfter(contract, [-netOf(current.value)], "status")
            yield* invoices.deleteLocked(current, { extraCtes: [linesDeletion], commit: true })
          })
        )
    }
  }).pipe(withSpans("InvoiceLifecycle"))
}) {}
