// Excludes NUL and, with the `u` flag that ajv sets, unpaired surrogates.
const storableTextPattern = "^[^\\u0000\\ud800-\\udfff]*$"

export const textSchema = (minLength: number, maxLength: number) => ({
  type: "string",
  minLength,
  maxLength,
  pattern: storableTextPattern
})

export const orderSchema = { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER }

export const envelopeSchema = (data: object) => ({ type: "object", required: ["data"], properties: { data } })
