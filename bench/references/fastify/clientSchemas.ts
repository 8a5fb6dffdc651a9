import { envelopeSchema, orderSchema, textSchema } from "./schemas.ts"

export const newClientSchema = {
  type: "object",
  required: ["name"],
  additionalProperties: false,
  properties: { name: textSchema(1, 200), description: textSchema(0, 1024), order: orderSchema }
}

export const clientSchema = {
  type: "object",
  required: ["id", "name", "media", "createdAt", "updatedAt"],
  properties: {
    id: { type: "string" },
    name: { type: "string" },
    description: { type: "string" },
    order: { type: "integer" },
    media: { type: "array", items: { type: "object", additionalProperties: true } },
    createdAt: { type: "string" },
    updatedAt: { type: "string" }
  }
}

export const clientResponseSchema = envelopeSchema(clientSchema)
export const clientsResponseSchema = envelopeSchema({ type: "array", items: clientSchema })
