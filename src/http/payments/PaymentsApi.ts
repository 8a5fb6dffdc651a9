import { HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { Schema } from "effect"
import { ClientId } from "../../domain/contracting/Client.ts"
import { InvoiceId } from "../../domain/invoicing/Invoice.ts"
import {
  AllocatePayment,
  CreatePayment,
  Payment,
  PaymentId,
  PaymentStatus,
  RefundPayment,
  ReversePayment
} from "../../domain/payments/Payment.ts"
import { field, optional, text } from "../../domain/Schemas.ts"
import { inTenant, StartsWithStatement } from "../api/Access.ts"
import { created, data } from "../api/Envelope.ts"
import { operation, tag } from "../api/Operation.ts"
import { pageQueryFields } from "../api/Paging.ts"

const path = Schema.Struct({ paymentId: PaymentId })

const rejectedAllocations = [
  "an invoice that does not exist or is not the client's (`exists`), is not FINALIZED (`state`) or is in another currency (`currency`)",
  "more than the balance of an invoice (`max`)"
]

export class PaymentsApi extends HttpApiGroup.make("payments")
  .annotateContext(
    tag(
      "Payments",
      "Invoices",
      "Money that clients paid. A payment settles one or more invoices, in full or in part. What it does not settle stays " +
        "available for later invoices or a refund."
    )
  )
  .add(
    HttpApiEndpoint.get("list", "/payments")
      .setUrlParams(
        Schema.Struct({
          ...pageQueryFields,
          clientId: optional(field(ClientId, "Only payments of this client.")),
          invoiceId: optional(field(InvoiceId, "Only payments that settle or have settled this invoice.")),
          status: optional(PaymentStatus),
          externalId: optional(
            field(text(1, 200), "Only payments with this identifier of yours.", "camt-2026-11-14-0007")
          )
        })
      )
      .addSuccess(data(Schema.Array(Payment)))
      .annotateContext(
        operation("List payments", inTenant("VIEWER"), {
          description: "Lists payments of the tenant by identifier, which is by age, one page at a time."
        })
      )
  )
  .add(
    HttpApiEndpoint.post("create", "/payments")
      .setPayload(CreatePayment)
      .addSuccess(data(Payment), created)
      .annotateContext(
        operation("Record a payment", inTenant("ADMIN"), {
          description:
            "Records money that has arrived, and settles invoices with it. An invoice without a balance is PAID. What " +
            "settles no invoice can be allocated or refunded later.",
          rejects: [
            ...rejectedAllocations,
            "allocations above the amount of the payment (`max`)",
            "an `externalId` that a recorded payment has (`unique`)",
            "a `clientId` that does not exist in the tenant (404)"
          ],
          events: ["payment.recorded", "invoice.paid", "invoice.updated"]
        })
      )
  )
  .add(
    HttpApiEndpoint.get("get", "/payments/:paymentId")
      .setPath(path)
      .addSuccess(data(Payment))
      .annotateContext(operation("Get a payment", inTenant("VIEWER"), { description: "Returns one payment." }))
  )
  .add(
    HttpApiEndpoint.post("allocate", "/payments/:paymentId/allocate")
      .setPath(path)
      .setPayload(AllocatePayment)
      .addSuccess(data(Payment))
      .annotateContext(
        operation("Allocate a payment", inTenant("ADMIN"), {
          description: "Settles an invoice with what is left of a payment.",
          rejects: [
            ...rejectedAllocations,
            "more than what is left of the payment (`max`)",
            "a payment that is REVERSED (`state`)"
          ],
          events: ["payment.allocated", "invoice.paid", "invoice.updated"]
        })
      )
  )
  .add(
    HttpApiEndpoint.post("reverse", "/payments/:paymentId/reverse")
      .setPath(path)
      .setPayload(ReversePayment)
      .addSuccess(data(Payment))
      .annotateContext(
        operation("Reverse a payment", inTenant("ADMIN"), {
          description:
            "Takes back a payment with all its allocations, for a returned debit or a mistake. The invoices have their " +
            "balance again, and PAID ones are FINALIZED again, unless their own credit notes have enough left to settle them.",
          rejects: ["a payment that is REVERSED already, or of which something was refunded (`state`)"],
          events: ["payment.reversed", "invoice.reopened", "invoice.updated", "credit_note.allocated"],
          example: {
            status: "REVERSED",
            allocations: [],
            reversedAt: "2026-12-03T10:00:00.000Z",
            reversalReason: "Returned direct debit"
          }
        })
      )
  )
  .add(
    HttpApiEndpoint.post("refund", "/payments/:paymentId/refund")
      .setPath(path)
      .setPayload(RefundPayment)
      .addSuccess(data(Payment))
      .annotateContext(
        operation("Refund a payment", inTenant("ADMIN"), {
          description: "Books that money was paid back to the client, out of what settles no invoice.",
          rejects: ["more than what is left of the payment (`max`)", "a payment that is REVERSED (`state`)"],
          events: ["payment.refunded"],
          example: { amountMinor: 21_706, refundedMinor: 500 }
        })
      )
  )
  .annotateEndpoints(StartsWithStatement, true) {}
