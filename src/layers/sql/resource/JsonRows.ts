import { JSONSchema, Schema } from "effect"
import { toIso } from "../connection/Timestamps.ts"
import type { Shape } from "./Columns.ts"

/** A row as it comes over the wire: every value in PostgreSQL's own text, or null. */
export type TextRow = ReadonlyArray<string | null>

/** What a field is made of: the schema itself, or the one inside an optional field. */
const schemaOf = (field: Schema.Struct.Field): Schema.Schema.All => {
  if (Schema.isSchema(field)) return field
  return "from" in field && Schema.isSchema(field.from) ? field.from : Schema.Unknown
}

const asIs = (text: string) => text
const quoted = (text: string) => JSON.stringify(text)
const moment = (text: string) => `"${toIso(text)}"`
const truth = (text: string) => (text === "t" ? "true" : "false")

/** How a value's text becomes JSON. Numbers are as they are, and so is what is JSON already. */
const writerOf = (field: Schema.Struct.Field) => {
  const facets: object = JSONSchema.make(Schema.make(schemaOf(field).ast))
  const type = "type" in facets ? facets.type : undefined
  if ("format" in facets && facets.format === "date-time") return moment
  if (type === "string") return quoted
  return type === "boolean" ? truth : asIs
}

/**
 * Writes rows of a select list in the fields' order as JSON, in the very characters JSON.stringify would use for the
 * resources. A long list is its values joined; taking each apart into an object first costs several times as much.
 */
export const jsonRows = ({ fields }: Shape) => {
  const keys = Object.keys(fields).map((name, index) => `${index === 0 ? "{" : ","}"${name}":`)
  const writers = Object.values(fields).map(writerOf)
  // Plain loops and one growing text: this runs for every value of every list.
  const jsonRow = (row: TextRow) => {
    let text = ""
    for (let i = 0; i < keys.length; i++) {
      const value = row[i]
      if (value !== null && value !== undefined) text += `${keys[i]}${writers[i]?.(value)}`
    }
    return `${text}}`
  }
  return (rows: ReadonlyArray<TextRow>) => {
    let text = "["
    for (let i = 0; i < rows.length; i++) text += (i === 0 ? "" : ",") + jsonRow(rows[i] ?? [])
    return `${text}]`
  }
}
