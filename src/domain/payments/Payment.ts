import { Either, Schema } from "effect"
import { ClientId } from "../contracting/Client.ts"
import { type ErrorDetail, fieldError, type ValidationError } from "../Errors.ts"
import { exampleId, id } from "../Ids.ts"
import { InvoiceId } from "../invoicing/Invoice.ts"
import { CurrencyCode } from "../money/Currency.ts"
import { maxMinor, sumMinor } from "../money/Money.ts"
import { body, field, maxItems, oneOf, optional, rule, Timestamp, text, timestamps, UtcDateTime } from "../Schemas.ts"
import { allocationFields, maxAllocations, NewAllocation, newRefundFields, PositiveMinor } from "./Allocation.ts"

export const PaymentId = id("pay", "payment")

export const PaymentStatus = field(
  oneOf("RECORDED", "REVERSED"),
  "RECORDED: it counts. REVERSED: taken back with all its allocations.",
  "RECORDED"
)
export type PaymentStatus = typeof PaymentStatus.Type

const information = {
  method: optional(field(text(1, 50), "How it was paid.", "bank transfer")),
  reference: optional(field(text(1, 200), "What the client wrote on the payment.", "INV-2026-000001")),
  externalId: optional(
    field(
      text(1, 200),
      "Your own identifier, such as that of a line of a bank statement. Unique among recorded payments, so that a line " +
        "cannot be booked twice.",
      "camt-2026-11-14-0007"
    )
  )
}

const client = field(ClientId, "The client that paid.")
const amountMinor = field(PositiveMinor, "Amount, in minor units of the currency.", 21_206)

export const Payment = Schema.Struct({
  id: PaymentId,
  client,
  currencyCode: field(CurrencyCode, "Currency of the payment.", "EUR"),
  amountMinor,
  receivedAt: field(Timestamp, "When the money arrived.", "2026-11-20T00:00:00.000Z"),
  ...information,
  status: PaymentStatus,
  ...allocationFields,
  reversedAt: optional(field(Timestamp, "When it was reversed.")),
  reversalReason: optional(field(text(1, 500), "Why it was reversed.", "Returned direct debit")),
  createdBy: optional(field(Schema.String, "Subject of the user that recorded it.", "alice")),
  ...timestamps
}).annotations({ identifier: "Payment", description: "Money that a client paid, and the invoices that it settles." })
export type Payment = typeof Payment.Type

const haveDistinctInvoices = (allocations: ReadonlyArray<NewAllocation>) =>
  new Set(allocations.map(({ invoiceId }) => invoiceId)).size === allocations.length

export const CreatePayment = body({
  clientId: client,
  currencyCode: field(CurrencyCode, "Currency of the payment.", "EUR"),
  amountMinor,
  receivedAt: optional(field(UtcDateTime, "When the money arrived. Default: now.", "2026-11-20T00:00:00.000Z")),
  ...information,
  allocations: optional(
    field(
      Schema.Array(NewAllocation).pipe(
        Schema.filter(haveDistinctInvoices, rule("unique", "must not contain an invoice twice")),
        maxItems(maxAllocations)
      ),
      "The invoices that it settles. The rest of the payment can be allocated later.",
      [{ invoiceId: InvoiceId.make(exampleId("inv")), amountMinor: 21_206 }]
    )
  )
}).annotations({ identifier: "CreatePayment", description: "A payment that has arrived." })

export const AllocatePayment = NewAllocation.annotations({
  identifier: "AllocatePayment",
  description: "An invoice to settle with what is left of a payment."
})

export const ReversePayment = body({
  reason: field(text(1, 500), "Why the payment is reversed.", "Returned direct debit")
}).annotations({ identifier: "ReversePayment", description: "Why a payment is reversed." })

export const RefundPayment = body(newRefundFields).annotations({
  identifier: "RefundPayment",
  description: "Money that is paid back to the client."
})

/** Errors of the allocations of a new payment as a whole. */
export const allocatedSumErrors = (
  paidMinor: number,
  allocations: ReadonlyArray<NewAllocation>
): ReadonlyArray<ErrorDetail> => {
  const sum = sumMinor(...allocations.map((allocation) => allocation.amountMinor))
  return sum !== undefined && sum <= paidMinor
    ? []
    : [
        {
          field: "allocations",
          constraint: "max",
          message: `must add up to at most ${paidMinor}, the amount of the payment, but ${sum === undefined ? `are beyond ${maxMinor}` : `add up to ${sum}`}`
        }
      ]
}

/** The error of an external identifier that a recorded payment has already. */
export const duplicateErrors = (payment: string | undefined): ReadonlyArray<ErrorDetail> =>
  payment === undefined
    ? []
    : [{ field: "externalId", constraint: "unique", message: `is already booked as the payment ${payment}` }]

/** Fails for a payment that is reversed. */
export const requireRecorded = ({ status }: Pick<Payment, "status">): Either.Either<void, ValidationError> =>
  status === "RECORDED"
    ? Either.void
    : Either.left(fieldError("status", "state", `is ${status}; only a RECORDED payment can be changed`))

/** Fails for a payment that is reversed already, or was refunded in part: the client has that money back. */
export const requireReversible = (
  payment: Pick<Payment, "status" | "refundedMinor">
): Either.Either<void, ValidationError> =>
  Either.flatMap(requireRecorded(payment), () =>
    payment.refundedMinor === 0
      ? Either.void
      : Either.left(
          fieldError(
            "refundedMinor",
            "state",
            `is ${payment.refundedMinor}; a payment cannot be reversed after a refund`
          )
        )
  )

/** A payment that is taken back with all its allocations. */
export const reversePayment = (payment: Payment, reason: string, at: string): Payment => ({
  ...payment,
  status: "REVERSED",
  allocations: [],
  unallocatedMinor: 0,
  reversedAt: at,
  reversalReason: reason
})

/** A new payment as it is recorded at this moment. */
export const toPayment = (
  { allocations: wanted = [], clientId, ...fields }: typeof CreatePayment.Type,
  at: string,
  createdBy: string | undefined
): Omit<Payment, "id" | "createdAt" | "updatedAt"> => {
  const allocations = wanted.map(({ amountMinor, invoiceId }) => ({ invoice: invoiceId, amountMinor }))
  const allocatedMinor = allocations.reduce((sum, { amountMinor }) => sum + amountMinor, 0)
  return {
    receivedAt: at,
    ...fields,
    client: clientId,
    status: "RECORDED",
    allocations,
    unallocatedMinor: fields.amountMinor - allocatedMinor,
    refundedMinor: 0,
    ...(createdBy === undefined ? {} : { createdBy })
  }
}
