/**
 * The machine-readable codes of validation errors, each with its meaning. They are part of the API: `docs/errors.md` lists
 * them, each with an example that a test sends.
 */
export const constraints = {
  required: "The field, header or body is missing, and the operation needs it.",
  type: "The value has the wrong JSON type, or is not an integer where one is needed.",
  minLength: "The text has too few characters. Lengths count Unicode code points.",
  maxLength: "The text, or a key of an object, has too many characters.",
  pattern: "The text contains a character or has a form that the field does not allow.",
  min: "The number, amount or time is too small or too early.",
  max: "The number, amount or sum is too large.",
  minItems: "The list has too few items, or a filter matches none.",
  maxItems: "The list, object or body has too many items, or a filter matches too many.",
  enum: "The value is not one of those that the field accepts.",
  format: "The value cannot be read: an identifier, a date, an email address, a URL, an image or the JSON itself.",
  unknown: "The field does not exist, or is not supported here. The message names what it does not go with.",
  exists: "The field references a resource that does not exist in this tenant.",
  state: "The current status of a resource does not allow the request. The message names the status.",
  currency:
    "The currency is not an ISO 4217 code, differs from that of the contract or invoice, or equals it where another is needed.",
  unique: "Another resource, or an earlier item of the same request, has this value already.",
  inUse: "Other resources still use the one that is to be deleted or changed. The message counts them.",
  quota: "The request would exceed a quota. `GET /limits` lists all quotas with their current use."
} as const

export type Constraint = keyof typeof constraints
