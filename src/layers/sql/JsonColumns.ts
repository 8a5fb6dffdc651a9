import { JSONSchema, Schema } from "effect"
import { columnOf, type Shape } from "./Columns.ts"

/** What a field is made of: the schema itself, or the one inside an optional field. */
const schemaOf = (field: Schema.Struct.Field): Schema.Schema.All => {
  if (Schema.isSchema(field)) return field
  return "from" in field && Schema.isSchema(field.from) ? field.from : Schema.Unknown
}

const isOptional = (field: Schema.Struct.Field) => !Schema.isSchema(field)

/** A value in the very characters JSON.stringify would use. Numbers are as they are, and so is what is JSON already. */
const valueOf = (field: Schema.Struct.Field, column: string) => {
  const facets: object = JSONSchema.make(Schema.make(schemaOf(field).ast))
  if ("format" in facets && facets.format === "date-time") {
    return `'"' || to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"'`
  }
  return "type" in facets && facets.type === "string" ? `to_json(${column})` : column
}

/**
 * The expression that writes a row as JSON, just as the API shows the resource. For a long list the database does this
 * several times faster than rows are taken apart here and put together again.
 */
export const jsonRow = (shape: Shape) => {
  const members = Object.entries(shape.fields).map(([name, field], index) => {
    const value = valueOf(field, shape.computed?.[name]?.expression ?? `this."${columnOf(shape, name)}"`)
    const key = `'${index === 0 ? "{" : ","}"${name}":'`
    // Joined by ||, a member without a value is nothing as a whole, and concat passes over it.
    return isOptional(field) ? `${key} || ${value}` : `${key}, ${value}`
  })
  return `concat(${members.join(", ")}, '}')`
}
