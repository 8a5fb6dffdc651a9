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
  readonly sql: string
  readonly quote: "" | '"'
}

/** The session's time zone does not matter. */
const isoTimestamp = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** `to_json` escapes the same characters in the same way as JSON.stringify; identifiers have none to escape. */
const jsonValue = (name: string, field: Schema.Struct.Field, column: string): JsonValue => {
  const schema = schemaOf(field)
  if (isIdentifier(schema)) return { sql: column, quote: '"' }
  const facets: object = JSONSchema.make(Schema.make(schema.ast))
  if ("format" in facets && facets.format === "date-time") return { sql: isoTimestamp(column), quote: '"' }
  const type = "type" in facets ? facets.type : undefined
  if (type === "string") return { sql: `to_json(${column})::text`, quote: "" }
  if (type === "number") throw new Error(`PostgreSQL and JSON.stringify write the decimals of ${name} differently`)
  return { sql: `${column}::text`, quote: "" }
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
    const { quote, sql } = jsonValue(name, field, columnOf(name))
    const key = `${parts.length === 0 ? "" : ","}"${name}":${quote}`
    if (Schema.isSchema(field)) {
      parts.push(literal(constant + key), sql)
      constant = quote
    } else {
      if (constant !== "") parts.push(literal(constant))
      parts.push(`coalesce(${literal(key)} || ${sql}${quote === "" ? "" : ` || ${literal(quote)}`}, '')`)
      constant = ""
    }
  }
  return [...parts, literal(`${constant}}`)].join(" || ")
}
