import { enveloped, order, text } from "./schemas.ts"

export const newClient = {
  type: "object",
  required: ["name"],
  additionalProperties: false,
  properties: { name: text(1, 200), description: text(0, 1024), order }
}

export const client = {
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

export const oneClient = enveloped(client)
export const manyClients = enveloped({ type: "array", items: client })
