// With the `u` flag, which the validator sets, the range of surrogates matches only those without a partner.
const storableTextPattern = "^[^\\u0000\\ud800-\\udfff]*$"

export const textSchema = (minLength: number, maxLength: number) => ({
  type: "string",
  minLength,
  maxLength,
  pattern: storableTextPattern
})

export const orderSchema = { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER }

export const envelopeSchema = (data: object) => ({ type: "object", required: ["data"], properties: { data } })
