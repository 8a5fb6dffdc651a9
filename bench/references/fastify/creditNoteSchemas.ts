import { allocationProperties } from "./paymentSchemas.ts"
import { envelopeSchema } from "./schemas.ts"

export const creditNoteParamsSchema = {
  type: "object",
  required: ["id"],
  properties: { id: { type: "string", pattern: "^crn_[a-z0-9]{1,64}$" } }
}

const creditLineSchema = {
  type: "object",
  required: ["billable", "amountMinor"],
  properties: { billable: { type: "string" }, quantity: { type: "number" }, amountMinor: { type: "integer" } }
}

export const creditNoteResponseSchema = envelopeSchema({
  type: "object",
  required: [
    ...["id", "invoice", "client", "status", "currencyCode", "reason", "full", "lines"],
    ...["subtotalMinor", "discountMinor", "taxes", "taxMinor", "totalMinor"],
    ...["allocations", "unallocatedMinor", "refundedMinor", "createdAt", "updatedAt"]
  ],
  properties: {
    id: { type: "string" },
    invoice: { type: "string" },
    client: { type: "string" },
    status: { type: "string" },
    creditNoteNumber: { type: "string" },
    currencyCode: { type: "string" },
    reason: { type: "string" },
    full: { type: "boolean" },
    lines: { type: "array", items: creditLineSchema },
    subtotalMinor: { type: "integer" },
    discountMinor: { type: "integer" },
    taxes: { type: "array", items: { type: "object", additionalProperties: true } },
    taxMinor: { type: "integer" },
    totalMinor: { type: "integer" },
    ...allocationProperties,
    issuedAt: { type: "string" },
    createdBy: { type: "string" },
    createdAt: { type: "string" },
    updatedAt: { type: "string" }
  }
})
