import { envelopeSchema, textSchema } from "./schemas.ts"

const positiveSchema = { type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER }

const newAllocationSchema = {
  type: "object",
  required: ["invoiceId", "amountMinor"],
  additionalProperties: false,
  properties: { invoiceId: { type: "string", pattern: "^inv_[a-z0-9]{1,64}$" }, amountMinor: positiveSchema }
}

export const newPaymentSchema = {
  type: "object",
  required: ["clientId", "currencyCode", "amountMinor"],
  additionalProperties: false,
  properties: {
    clientId: { type: "string", pattern: "^clnt_[a-z0-9]{1,64}$" },
    currencyCode: { type: "string", pattern: "^[A-Z]{3}$" },
    amountMinor: positiveSchema,
    receivedAt: { type: "string", format: "date-time", pattern: "Z$" },
    method: textSchema(1, 50),
    reference: textSchema(1, 200),
    externalId: textSchema(1, 200),
    allocations: { type: "array", maxItems: 100, items: newAllocationSchema }
  }
}

/** What a payment or a credit note settles, and what is left of it. */
export const allocationProperties = {
  allocations: {
    type: "array",
    items: {
      type: "object",
      required: ["invoice", "amountMinor"],
      properties: { invoice: { type: "string" }, amountMinor: { type: "integer" } }
    }
  },
  unallocatedMinor: { type: "integer" },
  refundedMinor: { type: "integer" }
}

export const paymentResponseSchema = envelopeSchema({
  type: "object",
  required: [
    ...["id", "client", "currencyCode", "amountMinor", "receivedAt", "status"],
    ...["allocations", "unallocatedMinor", "refundedMinor", "createdAt", "updatedAt"]
  ],
  properties: {
    id: { type: "string" },
    client: { type: "string" },
    currencyCode: { type: "string" },
    amountMinor: { type: "integer" },
    receivedAt: { type: "string" },
    method: { type: "string" },
    reference: { type: "string" },
    externalId: { type: "string" },
    status: { type: "string" },
    ...allocationProperties,
    createdBy: { type: "string" },
    createdAt: { type: "string" },
    updatedAt: { type: "string" }
  }
})
