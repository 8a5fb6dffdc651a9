/** One item of `details` in an error response. */
export interface ErrorDetail {
  readonly field: string
  readonly message: string
  readonly constraint: string
}

export interface FieldErrors {
  /** The message of each field of the form, by its name. */
  readonly byField: ReadonlyMap<string, string>
  /** What the form has no field for, as sentences. */
  readonly others: ReadonlyArray<string>
}

const sentence = ({ field, message }: ErrorDetail) => `${field} ${message}`

/** The field of a form that a detail is about: `discount.percent` may be shown at `discount`, `to[0]` at `to`. */
const findField = (path: string, fields: ReadonlyArray<string>): string | undefined => {
  if (fields.includes(path)) return path
  const parent = path.replace(/(\.[^.[\]]+|\[\d+\])$/, "")
  return parent === path ? undefined : findField(parent, fields)
}

/** Sorts the details of an error response to the fields of a form. */
export const sortDetails = (details: ReadonlyArray<ErrorDetail>, fields: ReadonlyArray<string>): FieldErrors => {
  const byField = new Map<string, string>()
  const others: Array<string> = []
  for (const detail of details) {
    const field = findField(detail.field, fields)
    if (field === undefined) others.push(sentence(detail))
    else byField.set(field, [byField.get(field), detail.message].filter((text) => text !== undefined).join(", and "))
  }
  return { byField, others }
}
