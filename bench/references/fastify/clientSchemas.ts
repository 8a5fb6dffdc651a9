// With the `u` flag, which the validator sets, the range of surrogates matches only those without a partner.
const storable = "^[^\\u0000\\ud800-\\udfff]*$"

export const newClient = {
  type: "object",
  required: ["name"],
  additionalProperties: false,
  properties: {
    name: { type: "string", minLength: 1, maxLength: 200, pattern: storable },
    description: { type: "string", maxLength: 1024, pattern: storable },
    order: { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER }
  }
}

const client = {
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

const enveloped = (data: object) => ({ type: "object", required: ["data"], properties: { data } })

export const oneClient = enveloped(client)
export const manyClients = enveloped({ type: "array", items: client })
