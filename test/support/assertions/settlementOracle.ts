import { assert } from "vitest"
import type { AllocationBody, PaymentBody } from "../fixtures/payments.ts"

/** A finalized credit note, with what the accepted requests did with it. */
interface KnownNote {
  readonly client: string
  readonly invoice: string
  readonly totalMinor: number
  readonly allocations: Array<AllocationBody>
  refundedMinor: number
}

interface KnownPayment {
  readonly client: string
  readonly amountMinor: number
  refundedMinor: number
  isReversed: boolean
}

/** What the accepted requests add up to, in whatever order the service ran them. */
export class SettlementOracle {
  readonly allocations: Array<AllocationBody & { readonly payment: string }> = []
  readonly payments = new Map<string, KnownPayment>()
  readonly notes = new Map<string, KnownNote>()
  readonly writtenOff = new Map<string, number>()
  readonly voided = new Set<string>()
  /** Invoices that `pay` settled, with a payment that the response does not name. */
  readonly paid: Array<string> = []

  recordPayment({ allocations, amountMinor, client, id }: PaymentBody) {
    this.payments.set(id, { client, amountMinor, refundedMinor: 0, isReversed: false })
    for (const allocation of allocations) this.allocations.push({ ...allocation, payment: id })
  }

  paymentsOf(id: string) {
    return [...this.payments].filter(([, { client }]) => client === id).map(([payment]) => payment)
  }

  notesOf(id: string) {
    return [...this.notes].filter(([, { client }]) => client === id).map(([note]) => note)
  }

  #countsOf(payment: string) {
    return this.payments.get(payment)?.isReversed === false
  }

  paidMinor(invoice: string) {
    return this.allocations
      .filter((allocation) => allocation.invoice === invoice && this.#countsOf(allocation.payment))
      .reduce((sum, { amountMinor }) => sum + amountMinor, 0)
  }

  unallocatedMinor(payment: string) {
    const { amountMinor, isReversed, refundedMinor } = this.payments.get(payment) ?? assert.fail(payment)
    const allocated = this.allocations
      .filter((allocation) => allocation.payment === payment)
      .reduce((sum, allocation) => sum + allocation.amountMinor, 0)
    return isReversed ? 0 : amountMinor - refundedMinor - allocated
  }
}
