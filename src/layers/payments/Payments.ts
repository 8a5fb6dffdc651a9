import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { NotFound, requireNoErrors } from "../../domain/Errors.ts"
import {
  allocationEntry,
  type JournalEntry,
  paymentEntry,
  paymentReversalEntries,
  refundEntry
} from "../../domain/journal/JournalEntry.ts"
import type { PageRequest } from "../../domain/Paging.ts"
import {
  type AllocatePayment,
  type Allocation,
  addAllocation,
  allocatedSumErrors,
  type CreatePayment,
  duplicateErrors,
  Payment,
  type PaymentStatus,
  type RefundPayment,
  type ReversePayment,
  requireRecorded,
  requireReversible,
  toPayment,
  unallocatedErrors
} from "../../domain/payments/Payment.ts"
import { allocationErrors } from "../../domain/payments/Settlement.ts"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import { currentSubject, Journal } from "../journal/Journal.ts"
import { inTransaction } from "../postgres/connection/Transactions.ts"
import { makeId } from "../postgres/IdGenerator.ts"
import { makeResource } from "../postgres/repository/Resource.ts"
import type { Versioned } from "../postgres/repository/ResourceSpec.ts"
import { withSpans } from "../telemetry/UseCaseSpans.ts"
import { type LockedInvoices, SettledInvoices } from "./SettledInvoices.ts"

interface Filter {
  readonly clientId?: string | undefined
  readonly status?: PaymentStatus | undefined
  readonly externalId?: string | undefined
  readonly invoiceId?: string | undefined
}

/** A locked payment, and the locked invoices that a change of it concerns. */
interface LockedPayment {
  readonly payment: Versioned<Payment>
  readonly invoices: LockedInvoices
}

/** A change of a payment. */
interface PaymentChange {
  readonly action: "allocated" | "reversed" | "refunded"
  readonly next: Payment
  readonly entries: ReadonlyArray<JournalEntry>
  /** The allocations that are added, or those that a reversal takes back. */
  readonly allocations?: ReadonlyArray<Allocation>
}

const toSettlements = (allocations: ReadonlyArray<Allocation>, sign: 1 | -1) =>
  allocations.map(({ amountMinor, invoice }) => ({ invoice, changes: { paidMinor: sign * amountMinor } }))

/**
 * Payments and what they settle. Every change locks the client, then the invoices by id, then the payment. The fixed
 * order prevents deadlocks.
 */
export class Payments extends Effect.Service<Payments>()("layers/Payments", {
  dependencies: [Journal.Default, SettledInvoices.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const journal = yield* Journal
    const settled = yield* SettledInvoices
    const payments = yield* makeResource({
      name: "payment",
      table: "payments",
      entity: Payment,
      relations: ["client"],
      clientOf: ({ client }) => client
    })

    const findDuplicate = (tenant: string, externalId: string | undefined) =>
      externalId === undefined
        ? sql.literal("null::text")
        : sql`(select id from payments
            where tenant_id = ${tenant} and external_id = ${externalId} and status = 'RECORDED')`

    /** Inserts a payment with its entries, settles the locked invoices that it is allocated to, and commits. */
    const record = Effect.fnUntraced(function* (request: typeof CreatePayment.Type, invoices: LockedInvoices) {
      const id = makeId("pay")
      const at = new Date().toISOString()
      const fields = toPayment(request, at, yield* currentSubject)
      const { allocations, amountMinor, client } = fields
      const entries = [
        paymentEntry(id, amountMinor),
        ...allocations.map((allocation) => allocationEntry(id, allocation))
      ]
      const settlement = yield* settled.buildUpdates(invoices, client, toSettlements(allocations, 1), at)
      const payment = yield* payments.create(fields, {
        id,
        action: "recorded",
        extraCtes: [yield* journal.buildBooking(fields, entries), ...settlement.ctes],
        commit: true
      })
      return { payment, invoices: settlement.values }
    })

    const create = Effect.fnUntraced(function* (request: typeof CreatePayment.Type) {
      const { allocations = [], amountMinor, clientId, currencyCode, externalId } = request
      const tenant = yield* CurrentTenant
      const client = sql`
        select ${findDuplicate(tenant, externalId)} as duplicate from clients
        where tenant_id = ${tenant} and id = ${clientId} for no key update of clients`
      const { locked, row } = yield* settled.lockAfter<{ duplicate: string | null }>(
        client,
        allocations.map(({ invoiceId }) => invoiceId)
      )
      if (row === undefined) return yield* Effect.fail(new NotFound())
      const payer = { client: clientId, currencyCode }
      yield* requireNoErrors([
        ...duplicateErrors(row.duplicate ?? undefined),
        ...allocatedSumErrors(amountMinor, allocations),
        ...allocations.flatMap(({ amountMinor, invoiceId }, index) =>
          allocationErrors(`allocations[${index}].`, amountMinor, locked.get(invoiceId), payer)
        )
      ])
      return (yield* record(request, locked)).payment
    })

    /** Locks the client of a payment or an invoice, which never changes. Fails if there is no such row. */
    const lockClientOf = Effect.fnUntraced(function* (table: "payments" | "invoices", id: string) {
      const tenant = yield* CurrentTenant
      const locked = yield* Effect.orDie(sql<object>`
        select 1 from clients where tenant_id = ${tenant}
          and id = (select client_id from ${sql.literal(table)} where tenant_id = ${tenant} and id = ${id})
        for no key update`)
      if (locked.length === 0) return yield* Effect.fail(new NotFound())
      return undefined
    })

    /** While the client is locked, nobody else can change the payment. */
    const lock = Effect.fnUntraced(function* (id: string, invoicesOf: (payment: Payment) => ReadonlyArray<string>) {
      yield* lockClientOf("payments", id)
      const invoices = yield* settled.lock(invoicesOf(yield* payments.get(id)))
      return { invoices, payment: yield* payments.lockForWrite(id) } satisfies LockedPayment
    })

    /** Writes a locked payment with its entries and its invoices, and commits. */
    const update = Effect.fnUntraced(function* (
      { invoices, payment }: LockedPayment,
      { action, allocations = [], entries, next }: PaymentChange
    ) {
      const settlements = toSettlements(allocations, action === "reversed" ? -1 : 1)
      const { ctes } = yield* settled.buildUpdates(invoices, next.client, settlements, new Date().toISOString())
      return yield* payments.updateLocked(payment, action, next, {
        extraCtes: [yield* journal.buildBooking(next, entries), ...ctes],
        commit: true
      })
    })

    const allocate = Effect.fnUntraced(function* (id: string, request: typeof AllocatePayment.Type) {
      const { amountMinor, invoiceId } = request
      const locked = yield* lock(id, () => [invoiceId])
      const { value } = locked.payment
      yield* requireRecorded(value)
      yield* requireNoErrors([
        ...unallocatedErrors(value, amountMinor),
        ...allocationErrors("", amountMinor, locked.invoices.get(invoiceId), value)
      ])
      const added = { invoice: invoiceId, amountMinor }
      const allocations = yield* addAllocation(value.allocations, added)
      return yield* update(locked, {
        action: "allocated",
        next: { ...value, allocations, unallocatedMinor: value.unallocatedMinor - amountMinor },
        entries: [allocationEntry(id, added)],
        allocations: [added]
      })
    })

    const reverse = Effect.fnUntraced(function* (id: string, { reason }: typeof ReversePayment.Type) {
      const locked = yield* lock(id, ({ allocations }) => allocations.map(({ invoice }) => invoice))
      const { value } = locked.payment
      yield* requireReversible(value)
      return yield* update(locked, {
        action: "reversed",
        next: {
          ...value,
          status: "REVERSED",
          allocations: [],
          unallocatedMinor: 0,
          reversedAt: new Date().toISOString(),
          reversalReason: reason
        },
        entries: paymentReversalEntries(id, value, reason),
        allocations: value.allocations
      })
    })

    const refund = Effect.fnUntraced(function* (id: string, { amountMinor, reference }: typeof RefundPayment.Type) {
      const locked = yield* lock(id, () => [])
      const { value } = locked.payment
      yield* requireRecorded(value)
      yield* requireNoErrors(unallocatedErrors(value, amountMinor))
      return yield* update(locked, {
        action: "refunded",
        next: {
          ...value,
          unallocatedMinor: value.unallocatedMinor - amountMinor,
          refundedMinor: value.refundedMinor + amountMinor
        },
        entries: [refundEntry(id, amountMinor, reference)]
      })
    })

    const settling = (tenant: string, invoice: string) => sql`this.id = any(array(
      select payment_id from journal_entries
      where tenant_id = ${tenant} and invoice_id = ${invoice} and payment_id is not null))`

    return {
      record,
      lockClientOf,
      get: payments.get,

      list: (window: PageRequest, { clientId, externalId, invoiceId, status }: Filter) =>
        Effect.flatMap(CurrentTenant, (tenant) =>
          payments.page(
            window,
            { client: clientId, externalId, status },
            invoiceId === undefined ? undefined : settling(tenant, invoiceId)
          )
        ),

      create: (request: typeof CreatePayment.Type) => create(request).pipe(inTransaction(sql)),
      allocate: (id: string, request: typeof AllocatePayment.Type) => allocate(id, request).pipe(inTransaction(sql)),
      reverse: (id: string, request: typeof ReversePayment.Type) => reverse(id, request).pipe(inTransaction(sql)),
      refund: (id: string, request: typeof RefundPayment.Type) => refund(id, request).pipe(inTransaction(sql))
    }
  }).pipe(withSpans("Payments"))
}) {}
