import { enveloped, order, text } from "./schemas.ts"

const most = Number.MAX_SAFE_INTEGER

const newLine = {
  type: "object",
  required: ["name", "amountMinor"],
  additionalProperties: false,
  properties: {
    name: text(1, 255),
    quantity: { type: "number", minimum: -most, maximum: most, default: 1 },
    amountMinor: { type: "integer", minimum: -most, maximum: most },
    currencyCode: { type: "string", pattern: "^[A-Z]{3}$" },
    referenceType: text(1, 100),
    referenceId: text(1, 100),
    description: text(0, 1024),
    metadata: {
      type: "object",
      maxProperties: 50,
      propertyNames: text(1, 40),
      additionalProperties: text(0, 500)
    },
    order
  }
}

export const newLines = {
  type: "object",
  required: ["invoiceId", "billables"],
  additionalProperties: false,
  properties: {
    invoiceId: { type: "string", pattern: "^inv_[a-z0-9]{1,64}$" },
    billables: { type: "array", minItems: 1, maxItems: 1000, items: newLine }
  }
}

const billable = {
  type: "object",
  required: [
    ...["id", "invoice", "name", "quantity", "amountMinor", "currencyCode"],
    ...["lineTotalMinor", "createdAt", "updatedAt"]
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
    lineTotalMinor: { type: "integer" },
    createdAt: { type: "string" },
    updatedAt: { type: "string" }
  }
}

export const manyBillables = enveloped({ type: "array", items: billable })
