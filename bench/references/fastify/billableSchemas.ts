import { envelopeSchema, orderSchema, textSchema } from "./schemas.ts"

const maxInteger = Number.MAX_SAFE_INTEGER

const newLineSchema = {
  type: "object",
  required: ["name", "amountMinor"],
  additionalProperties: false,
  properties: {
    name: textSchema(1, 255),
    quantity: { type: "number", minimum: -maxInteger, maximum: maxInteger, default: 1 },
    amountMinor: { type: "integer", minimum: -maxInteger, maximum: maxInteger },
    currencyCode: { type: "string", pattern: "^[A-Z]{3}$" },
    referenceType: textSchema(1, 100),
    referenceId: textSchema(1, 100),
    description: textSchema(0, 1024),
    metadata: {
      type: "object",
      maxProperties: 50,
      propertyNames: textSchema(1, 40),
      additionalProperties: textSchema(0, 500)
    },
    order: orderSchema
  }
}

export const newLinesSchema = {
  type: "object",
  required: ["invoiceId", "billables"],
  additionalProperties: false,
  properties: {
    invoiceId: { type: "string", pattern: "^inv_[a-z0-9]{1,64}$" },
    billables: { type: "array", minItems: 1, maxItems: 1000, items: newLineSchema }
  }
}

const billableSchema = {
  type: "object",
  required: [
    ...["id", "invoice", "name", "quantity", "amountMinor", "currencyCode"],
    ...["taxRates", "discountMinor", "lineTotalMinor", "createdAt", "updatedAt"]
  ],
  properties: {
    id: { type: "string" },
    invoice: { type: "string" },
    name: { type: "string" },
    quantity: { type: "number" },
    amountMinor: { type: "integer" },
    currencyCode: { type: "string" },
    referenceType: { type: "string" },
    referenceId: { type: "string" },
    description: { type: "string" },
    metadata: { type: "object", additionalProperties: { type: "string" } },
    order: { type: "integer" },
    taxRates: { type: "array", items: { type: "string" } },
    discountMinor: { type: "integer" },
    lineTotalMinor: { type: "integer" },
    createdAt: { type: "string" },
    updatedAt: { type: "string" }
  }
}

export const billablesResponseSchema = envelopeSchema({ type: "array", items: billableSchema })
