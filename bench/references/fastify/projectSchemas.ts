import { clientSchema } from "./clientSchemas.ts"
import { envelopeSchema, orderSchema, textSchema } from "./schemas.ts"

export const projectParamsSchema = {
  type: "object",
  required: ["id"],
  properties: { id: { type: "string", pattern: "^prj_[a-z0-9]{1,64}$" } }
}

export const projectQuerySchema = { type: "object", properties: { expand: { type: "string" } } }

export const projectChangeSchema = {
  type: "object",
  minProperties: 1,
  additionalProperties: false,
  properties: {
    name: textSchema(1, 255),
    description: { ...textSchema(0, 1024), nullable: true },
    order: { ...orderSchema, nullable: true }
  }
}

/** A relation: its id or the expanded object. Unlike with `anyOf`, Fastify serializes it without a validator. */
const idOrExpanded = (schema: object) => ({ ...schema, type: ["string", "object"] })

const contractSchema = {
  type: "object",
  required: ["id", "client", "name", "status", "currencyCode", "paymentTermDays", "createdAt", "updatedAt"],
  properties: {
    id: { type: "string" },
    client: idOrExpanded(clientSchema),
    name: { type: "string" },
    description: { type: "string" },
    status: { type: "string" },
    currencyCode: { type: "string" },
    startsAt: { type: "string" },
    endsAt: { type: "string" },
    paymentTermDays: { type: "integer" },
    capMinor: { type: "integer" },
    order: { type: "integer" },
    createdAt: { type: "string" },
    updatedAt: { type: "string" }
  }
}

const makeProjectSchema = (contract: object) => ({
  type: "object",
  required: ["id", "contract", "name", "createdAt", "updatedAt"],
  properties: {
    id: { type: "string" },
    contract,
    name: { type: "string" },
    description: { type: "string" },
    order: { type: "integer" },
    createdAt: { type: "string" },
    updatedAt: { type: "string" }
  }
})

export const projectResponseSchema = envelopeSchema(makeProjectSchema({ type: "string" }))
export const expandedProjectResponseSchema = envelopeSchema(makeProjectSchema(idOrExpanded(contractSchema)))
