import { JSONSchema, Schema } from "effect"
import { isIdentifier } from "../../../../domain/Ids.ts"

/** The schema of a field, unwrapped if the field is optional. */
const schemaOf = (field: Schema.Struct.Field): Schema.Schema.All => {
  if (Schema.isSchema(field)) return field
  return "from" in field && Schema.isSchema(field.from) ? field.from : Schema.Unknown
}

const sqlLiteral = (text: string) => `'${text.replaceAll("'", "''")}'`

/** A JSON value: an SQL expression of type text, and the constant text around it. */
interface JsonValue {
  readonly before?: string
  readonly sql: string
  readonly after?: string
}

/**
 * The opening quote and the time to the millisecond. Needs a session in UTC, which all connections have. Columns store
 * milliseconds; the added microsecond keeps PostgreSQL from dropping trailing zeros. Faster than `to_char`.
 */
const isoTimestamp = (column: string) => `left(to_json(${column} + interval '1 microsecond')::text, 24)`

/** `to_json` escapes exactly as JSON.stringify does. Identifiers contain nothing to escape. */
const jsonValue = (name: string, field: Schema.Struct.Field, column: string): JsonValue => {
  const schema = schemaOf(field)
  if (isIdentifier(schema)) return { before: '"', sql: column, after: '"' }
  const jsonSchema: object = JSONSchema.make(Schema.make(schema.ast))
  if ("format" in jsonSchema && jsonSchema.format === "date-time") return { sql: isoTimestamp(column), after: 'Z"' }
  const type = "type" in jsonSchema ? jsonSchema.type : undefined
  if (type === "string") return { sql: `to_json(${column})::text` }
  if (type === "number") throw new Error(`Field ${name}: PostgreSQL and JSON.stringify format decimals differently`)
  return { sql: `${column}::text` }
}

/**
 * The SQL expression that encodes a row as JSON, byte for byte as JSON.stringify encodes the resource: fields in schema
 * order, an optional field omitted when its column is null. Columns of required fields, and of the first field, must be
 * `not null`; otherwise the whole text is null.
 */
export const buildJsonSql = (fields: Schema.Struct.Fields, columnOf: (field: string) => string) => {
  const parts: Array<string> = []
  let constant = "{"
  for (const [name, field] of Object.entries(fields)) {
    const { after = "", before = "", sql } = jsonValue(name, field, columnOf(name))
    const key = `${parts.length === 0 ? "" : ","}"${name}":${before}`
    if (Schema.isSchema(field)) {
      parts.push(sqlLiteral(constant + key), sql)
      constant = after
    } else {
      if (constant !== "") parts.push(sqlLiteral(constant))
      parts.push(`coalesce(${sqlLiteral(key)} || ${sql}${after === "" ? "" : ` || ${sqlLiteral(after)}`}, '')`)
      constant = ""
    }
  }
  return [...parts, sqlLiteral(`${constant}}`)].join(" || ")
}
