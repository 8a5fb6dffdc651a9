const toArrayElement = (value: unknown): string => {
  if (value === null || value === undefined) return "NULL"
  if (Array.isArray(value)) return toArrayLiteral(value)
  if (value instanceof Uint8Array) return `"\\\\x${Buffer.from(value).toString("hex")}"`
  return `"${String(toParameter(value)).replace(/[\\"]/g, "\\$&")}"`
}

const toArrayLiteral = (values: ReadonlyArray<unknown>) => `{${values.map(toArrayElement).join(",")}}`

/** Converts a value to the text format of PostgreSQL; bytes stay bytes. */
export const toParameter = (value: unknown): string | Buffer | null => {
  switch (typeof value) {
    case "string":
      return value
    case "undefined":
      return null
    case "object":
      if (value === null) return null
      if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
      if (value instanceof Date) return value.toISOString()
      return Array.isArray(value) ? toArrayLiteral(value) : JSON.stringify(value)
    default:
      return String(value)
  }
}
