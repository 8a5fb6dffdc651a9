import { envelopeSchema } from "./schemas.ts"

export const invoiceParamsSchema = {
  type: "object",
  required: ["id"],
  properties: { id: { type: "string", pattern: "^inv_[a-z0-9]{1,64}$" } }
}

export const invoiceResponseSchema = envelopeSchema({
  type: "object",
  required: [
    ...["id", "contract", "status", "currencyCode", "subtotalMinor", "discountMinor", "taxes"],
    ...["taxMinor", "totalMinor", "paidMinor", "creditedMinor", "writtenOffMinor", "balanceMinor", "billableCount"],
    ...["createdAt", "updatedAt"]
  ],
  properties: {
    id: { type: "string" },
    contract: { type: "string" },
    status: { type: "string" },
    invoiceNumber: { type: "string" },
    currencyCode: { type: "string" },
    subtotalMinor: { type: "integer" },
    discountMinor: { type: "integer" },
    taxes: { type: "array", items: { type: "object", additionalProperties: true } },
    taxMinor: { type: "integer" },
    totalMinor: { type: "integer" },
    paidMinor: { type: "integer" },
    creditedMinor: { type: "integer" },
    writtenOffMinor: { type: "integer" },
    balanceMinor: { type: "integer" },
    billableCount: { type: "integer" },
    issuedAt: { type: "string" },
    dueAt: { type: "string" },
    paidAt: { type: "string" },
    createdAt: { type: "string" },
    updatedAt: { type: "string" }
  }
})
