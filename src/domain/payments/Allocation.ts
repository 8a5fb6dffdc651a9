import { Either, Schema } from "effect"
import { type ErrorDetail, fieldError, type ValidationError } from "../Errors.ts"
import { exampleId } from "../Ids.ts"
import { InvoiceId } from "../invoicing/Invoice.ts"
import { maxMinor } from "../money/Money.ts"
import { body, field, integer, optional, text } from "../Schemas.ts"

/** What settles invoices: a payment, or a credit note with what it has left. */
export type CreditSource = "payment" | "credit note"

/** Maximum number of invoices that one payment or credit note settles. It bounds the cost of every change of it. */
export const maxAllocations = 100

export const PositiveMinor = integer(1, maxMinor)
const Sum = integer(0, maxMinor)

const Allocation = Schema.Struct({
  invoice: field(InvoiceId, "The settled invoice."),
  amountMinor: field(PositiveMinor, "How much of it, in minor units.", 21_206)
}).annotations({ description: "A part that settles an invoice." })
export type Allocation = typeof Allocation.Type

/** The fields that say what a payment or a credit note settles, and what is left of it. */
export const allocationFields = {
  allocations: field(Schema.Array(Allocation), "The invoices that it settles.", [
    { invoice: InvoiceId.make(exampleId("inv")), amountMinor: 21_206 }
  ]),
  unallocatedMinor: field(Sum, "What settles no invoice yet and was not refunded, in minor units.", 0),
  refundedMinor: field(Sum, "What was paid back to the client, in minor units.", 0)
}

/** What a payment or a credit note settles, and what is left of it. */
export interface Allocated {
  readonly allocations: ReadonlyArray<Allocation>
  readonly unallocatedMinor: number
  readonly refundedMinor: number
}

export const NewAllocation = body({
  invoiceId: field(InvoiceId, "The FINALIZED invoice to settle."),
  amountMinor: field(PositiveMinor, "How much of it, in minor units: at most the balance of the invoice.", 21_206)
})
export type NewAllocation = typeof NewAllocation.Type

export const newRefundFields = {
  amountMinor: field(PositiveMinor, "How much is paid back, in minor units: at most what settles no invoice.", 500),
  reference: optional(field(text(1, 200), "What was written on the transfer.", "Refund of an overpayment"))
}

/** Errors of an amount that is taken from what is left of a payment or a credit note. */
export const unallocatedErrors = (
  source: CreditSource,
  { unallocatedMinor }: Allocated,
  amountMinor: number
): ReadonlyArray<ErrorDetail> =>
  amountMinor <= unallocatedMinor
    ? []
    : [
        {
          field: "amountMinor",
          constraint: "max",
          message: `must be at most ${unallocatedMinor}, what is left of the ${source}, but is ${amountMinor}`
        }
      ]

/** The allocations with one more, merged with an earlier one of the same invoice. Fails beyond the maximum number. */
const addToAllocations = (
  source: CreditSource,
  allocations: ReadonlyArray<Allocation>,
  added: Allocation
): Either.Either<ReadonlyArray<Allocation>, ValidationError> => {
  const earlier = allocations.find(({ invoice }) => invoice === added.invoice)
  if (earlier !== undefined) {
    const merged = { ...earlier, amountMinor: earlier.amountMinor + added.amountMinor }
    return Either.right(allocations.map((allocation) => (allocation === earlier ? merged : allocation)))
  }
  return allocations.length < maxAllocations
    ? Either.right([...allocations, added])
    : Either.left(
        fieldError(
          "invoiceId",
          "maxItems",
          `must be one of the ${maxAllocations} invoices of the ${source}; more are not possible`
        )
      )
}

/** Takes an allocation from what is left of a payment or a credit note. */
export const allocate = <A extends Allocated>(
  source: CreditSource,
  value: A,
  added: Allocation
): Either.Either<A, ValidationError> =>
  Either.map(addToAllocations(source, value.allocations, added), (allocations) => ({
    ...value,
    allocations,
    unallocatedMinor: value.unallocatedMinor - added.amountMinor
  }))

/** Takes a refund from what is left of a payment or a credit note. */
export const refund = <A extends Allocated>(value: A, amountMinor: number): A => ({
  ...value,
  unallocatedMinor: value.unallocatedMinor - amountMinor,
  refundedMinor: value.refundedMinor + amountMinor
})
