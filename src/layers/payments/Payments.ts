import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { reopenInvoices } from "../../domain/creditNotes/OwnCredit.ts"
import { NotFound, requireNoErrors } from "../../domain/Errors.ts"
import { allocationEntry, paymentEntry, paymentReversalEntries } from "../../domain/journal/JournalEntry.ts"
import type { PageRequest } from "../../domain/Paging.ts"
import {
  type AllocatePayment,
  allocatedSumErrors,
  type CreatePayment,
  duplicateErrors,
  Payment,
  type PaymentStatus,
  type RefundPayment,
  type ReversePayment,
  requireRecorded,
  requireReversible,
  reversePayment,
  toPayment
} from "../../domain/payments/Payment.ts"
import { allocationErrors } from "../../domain/settlement/Settlement.ts"
import { CurrentTenant, currentSubject } from "../../domain/tenancy/RequestContext.ts"
import { CreditNotes } from "../creditNotes/CreditNotes.ts"
import { inTransaction } from "../infra/postgres/connection/Transactions.ts"
import { makeId } from "../infra/postgres/IdGenerator.ts"
import { makeResource } from "../infra/postgres/repository/Resource.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { Journal } from "../journal/Journal.ts"
import { makeCreditMoves } from "../settlement/CreditMoves.ts"
import { type LockedInvoices, SettledInvoices } from "../settlement/SettledInvoices.ts"

interface Filter {
  readonly clientId?: string | undefined
  readonly status?: PaymentStatus | undefined
  readonly externalId?: string | undefined
  readonly invoiceId?: string | undefined
}

/**
 * Payments and what they settle. Every change locks the client, then the invoices by id, then the payment, then credit
 * notes. The fixed order prevents deadlocks.
 */
export class Payments extends Effect.Service<Payments>()("layers/Payments", {
  dependencies: [CreditNotes.Default, Journal.Default, SettledInvoices.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const journal = yield* Journal
    const notes = yield* CreditNotes
    const settled = yield* SettledInvoices
    const payments = yield* makeResource({
      name: "payment",
      table: "payments",
      entity: Payment,
      relations: ["client"],
      clientOf: ({ client }) => client
    })

    const moves = yield* makeCreditMoves(
      {
        name: "payment",
        table: "payments",
        refOf: (payment) => ({ payment }),
        settles: "paidMinor",
        requireUsable: requireRecorded
      },
      payments
    )

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
        ...allocations.map((allocation) => allocationEntry({ payment: id }, allocation))
      ]
      const settlement = yield* settled.buildUpdates(invoices, client, moves.toSettlements(allocations), at)
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
      const payer = { source: "payment", client: clientId, currencyCode } as const
      yield* requireNoErrors([
        ...duplicateErrors(row.duplicate ?? undefined),
        ...allocatedSumErrors(amountMinor, allocations),
        ...allocations.flatMap(({ amountMinor, invoiceId }, index) =>
          allocationErrors(`allocations[${index}].`, amountMinor, locked.get(invoiceId), payer)
        )
      ])
      return (yield* record(request, locked)).payment
    })

    const reverse = Effect.fnUntraced(function* (id: string, { reason }: typeof ReversePayment.Type) {
      const { invoices, source } = yield* moves.lock(id, ({ allocations }) => allocations.map(({ invoice }) => invoice))
      const { allocations, client } = source.value
      yield* requireReversible(source.value)
      const own = yield* notes.useForReopened(client, allocations)
      const at = new Date().toISOString()
      const next = reversePayment(source.value, reason, at)
      const entries = [...paymentReversalEntries(id, source.value, reason), ...own.entries]
      const reopenings = reopenInvoices(allocations, own.allocations)
      const { ctes } = yield* settled.buildUpdates(invoices, client, reopenings, at)
      return yield* payments.updateLocked(source, "reversed", next, {
        extraCtes: [yield* journal.buildBooking(next, entries), ...own.ctes, ...ctes],
        commit: true
      })
    })

    const settling = (tenant: string, invoice: string) => sql`this.id = any(array(
      select payment_id from journal_entries
      where tenant_id = ${tenant} and invoice_id = ${invoice} and payment_id is not null))`

    return {
      record,
      get: payments.get,
      pageByAge: payments.pageByAge,

      list: (window: PageRequest, { clientId, externalId, invoiceId, status }: Filter) =>
        Effect.flatMap(CurrentTenant, (tenant) =>
          payments.page(
            window,
            { client: clientId, externalId, status },
            invoiceId === undefined ? undefined : settling(tenant, invoiceId)
          )
        ),

      create: (request: typeof CreatePayment.Type) => create(request).pipe(inTransaction(sql)),
      allocate: (id: string, request: typeof AllocatePayment.Type) =>
        moves.allocate(id, request).pipe(inTransaction(sql)),
      reverse: (id: string, request: typeof ReversePayment.Type) => reverse(id, request).pipe(inTransaction(sql)),
      refund: (id: string, request: typeof RefundPayment.Type) => moves.refund(id, request).pipe(inTransaction(sql))
    }
  }).pipe(withSpans("Payments"))
}) {}
