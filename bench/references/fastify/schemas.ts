// With the `u` flag, which the validator sets, the range of surrogates matches only those without a partner.
const storable = "^[^\\u0000\\ud800-\\udfff]*$"

export const text = (minLength: number, maxLength: number) => ({
  type: "string",
  minLength,
  maxLength,
  pattern: storable
})

export const order = { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER }

export const enveloped = (data: object) => ({ type: "object", required: ["data"], properties: { data } })
