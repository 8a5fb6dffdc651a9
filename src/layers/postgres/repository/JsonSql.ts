import { JSONSchema, Schema } from "effect"
import { isIdentifier } from "../../../domain/Ids.ts"

/** What a field is made of: the schema itself, or the one inside an optional field. */
const schemaOf = (field: Schema.Struct.Field): Schema.Schema.All => {
  if (Schema.isSchema(field)) return field
  return "from" in field && Schema.isSchema(field.from) ? field.from : Schema.Unknown
}

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`

/** A value in JSON: an SQL expression that gives text, and the constant text around it. */
interface JsonValue {
  readonly before?: string
  readonly sql: string
  readonly after?: string
}

/**
 * The opening quote and the time to the millisecond, in a session whose time zone is UTC, as all of ours are. Columns keep
 * milliseconds; with one microsecond more PostgreSQL drops no zero at the end. Faster than `to_char`.
 */
const isoTimestamp = (column: string) => `left(to_json(${column} + interval '1 microsecond')::text, 24)`

/** `to_json` escapes the same characters in the same way as JSON.stringify; identifiers have none to escape. */
const jsonValue = (name: string, field: Schema.Struct.Field, column: string): JsonValue => {
  const schema = schemaOf(field)
  if (isIdentifier(schema)) return { before: '"', sql: column, after: '"' }
  const facets: object = JSONSchema.make(Schema.make(schema.ast))
  if ("format" in facets && facets.format === "date-time") return { sql: isoTimestamp(column), after: 'Z"' }
  const type = "type" in facets ? facets.type : undefined
  if (type === "string") return { sql: `to_json(${column})::text` }
  if (type === "number") throw new Error(`PostgreSQL and JSON.stringify write the decimals of ${name} differently`)
  return { sql: `${column}::text` }
}

/**
 * The SQL expression that writes a row as JSON, byte for byte what JSON.stringify gives for the resource: fields in the
 * schema's order, an optional one left out when its column is null. The first field and every other required one must
 * lie in a column that is not null, or the whole text is null.
 */
export const jsonSql = (fields: Schema.Struct.Fields, columnOf: (field: string) => string) => {
  const parts: Array<string> = []
  let constant = "{"
  for (const [name, field] of Object.entries(fields)) {
    const { after = "", before = "", sql } = jsonValue(name, field, columnOf(name))
    const key = `${parts.length === 0 ? "" : ","}"${name}":${before}`
    if (Schema.isSchema(field)) {
      parts.push(literal(constant + key), sql)
      constant = after
    } else {
      if (constant !== "") parts.push(literal(constant))
      parts.push(`coalesce(${literal(key)} || ${sql}${after === "" ? "" : ` || ${literal(after)}`}, '')`)
      constant = ""
    }
  }
  return [...parts, literal(`${constant}}`)].join(" || ")
}
