import { client } from "./clientSchemas.ts"
import { enveloped, order, text } from "./schemas.ts"

export const projectPath = {
  type: "object",
  required: ["id"],
  properties: { id: { type: "string", pattern: "^prj_[a-z0-9]{1,64}$" } }
}

export const projectQuery = { type: "object", properties: { expand: { type: "string" } } }

export const projectChange = {
  type: "object",
  minProperties: 1,
  additionalProperties: false,
  properties: {
    name: text(1, 255),
    description: { ...text(0, 1024), nullable: true },
    order: { ...order, nullable: true }
  }
}

/** A relation: its identifier or all of it. Two types, unlike `anyOf`, are told apart without a validator. */
const orInFull = (schema: object) => ({ ...schema, type: ["string", "object"] })

const contract = {
  type: "object",
  required: ["id", "client", "name", "status", "currencyCode", "paymentTermDays", "createdAt", "updatedAt"],
  properties: {
    id: { type: "string" },
    client: orInFull(client),
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

const project = (contract: object) => ({
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

export const oneProject = enveloped(project({ type: "string" }))
export const oneProjectInFull = enveloped(project(orInFull(contract)))
