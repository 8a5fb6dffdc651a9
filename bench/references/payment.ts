import type { Caller } from "./caller.ts"
import { newId } from "./ids.ts"

interface NewAllocation {
  readonly invoiceId: string
  readonly amountMinor: number
}

export interface NewPayment {
  readonly clientId: string
  readonly currencyCode: string
  readonly amountMinor: number
  readonly receivedAt?: string
  readonly method?: string
  readonly reference?: string
  readonly externalId?: string
  readonly allocations?: ReadonlyArray<NewAllocation>
}

export const makePayment = (request: NewPayment, { subject }: Caller) => {
  const at = new Date().toISOString()
  const { amountMinor, clientId, currencyCode, externalId, method, receivedAt, reference } = request
  const allocations = (request.allocations ?? []).map(({ amountMinor, invoiceId }) => ({
    invoice: invoiceId,
    amountMinor
  }))
  return {
    id: newId("pay"),
    client: clientId,
    currencyCode,
    amountMinor,
    receivedAt: receivedAt === undefined ? at : new Date(receivedAt).toISOString(),
    ...(method === undefined ? {} : { method }),
    ...(reference === undefined ? {} : { reference }),
    ...(externalId === undefined ? {} : { externalId }),
    status: "RECORDED",
    allocations,
    unallocatedMinor: amountMinor - allocations.reduce((sum, allocation) => sum + allocation.amountMinor, 0),
    refundedMinor: 0,
    createdBy: subject,
    createdAt: at,
    updatedAt: at
  }
}

export type Payment = ReturnType<typeof makePayment>

/** The values of the payment and its event in `recordPayment`. */
export const toPaymentValues = ({ subject, tenant }: Caller, payment: Payment) => {
  const { allocations, amountMinor, client, createdAt, currencyCode, id, receivedAt } = payment
  const { externalId = null, method = null, reference = null, refundedMinor, status, unallocatedMinor } = payment
  return [
    ...[tenant, id, client, currencyCode, amountMinor, receivedAt, method, reference, externalId, status],
    ...[JSON.stringify(allocations), unallocatedMinor, refundedMinor, null, null, subject, createdAt, createdAt, 1],
    ...[tenant, newId("evt"), "payment.recorded", id, client, 1, createdAt, subject, JSON.stringify(payment)]
  ]
}
