import type { Schema } from "effect"

/** Maps a resource to its table: every field is a column, `createdAt` is `created_at`. */
export interface TableShape {
  readonly table: string
  readonly fields: Schema.Struct.Fields
  /** Fields that reference another resource: `client` is stored in `client_id`. */
  readonly relations?: ReadonlyArray<string>
  /** Fields that are computed from columns when they are read: the SQL expression of each. */
  readonly computed?: Readonly<Record<string, string>>
}

const isStored =
  ({ computed = {} }: TableShape) =>
  (field: string) =>
    !(field in computed)

export const columnOf = ({ relations = [] }: TableShape, field: string) =>
  relations.includes(field) ? `${field}_id` : field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** The select list in the field order of the schema. Each column is aliased to `prefix` plus the field name. */
export const selectList = (shape: TableShape, row = "this", prefix = "") =>
  Object.keys(shape.fields)
    .map((name) => `${shape.computed?.[name] ?? `${row}."${columnOf(shape, name)}"`} as "${prefix}${name}"`)
    .join(", ")

export type Row = Readonly<Record<string, unknown>>

/** Drops null columns: an absent value is an absent field. */
export const omitNulls = (row: Row) => {
  const entity: Record<string, unknown> = {}
  for (const name in row) {
    const value = row[name]
    if (value !== null && value !== undefined) entity[name] = value
  }
  return entity
}

/** Returns a function that picks the fields of a schema, in its order, from keys that start with `prefix`. */
export const makeEntityMapper = ({ fields }: Pick<TableShape, "fields">, prefix = "") => {
  const names = Object.keys(fields).map((name) => [name, prefix + name] as const)
  return (entity: Row) => {
    const arranged: Record<string, unknown> = {}
    for (const [name, key] of names) {
      const value = entity[key]
      if (value !== null && value !== undefined) arranged[name] = value
    }
    return arranged
  }
}

/** Returns a function from a resource to its row. Every column is set, so that the text of the statement is constant. */
export const makeRowMapper = (shape: TableShape) => {
  const columns = Object.keys(shape.fields)
    .filter(isStored(shape))
    .map((name) => [name, columnOf(shape, name)] as const)
  return (entity: Row) => {
    const row: Record<string, unknown> = {}
    for (const [name, column] of columns) row[column] = entity[name] ?? null
    return row
  }
}

/** The JSON of a resource for the API, and that of its row for `json_populate_recordset`. */
export interface EncodedResource {
  readonly json: string
  readonly rowJson: string
}

/**
 * Returns a function that encodes a resource and its row as JSON, in the field order of the schema. `rowStart` is the
 * beginning of the row's JSON without its brace. Each value is stringified once; temporary objects for `JSON.stringify`
 * cost several times as much.
 */
export const makeResourceEncoder = (shape: TableShape) => {
  const names = Object.keys(shape.fields).map((name) => [name, `"${name}":`, `"${columnOf(shape, name)}":`] as const)
  return (generated: Row, fields: Row, rowStart: string): EncodedResource => {
    let json = ""
    let rowJson = rowStart
    for (const [name, key, column] of names) {
      const value = generated[name] ?? fields[name]
      if (value === null || value === undefined) continue
      const text = JSON.stringify(value)
      json += `${json === "" ? "" : ","}${key}${text}`
      rowJson += `,${column}${text}`
    }
    return { json: `{${json}}`, rowJson: `{${rowJson}}` }
  }
}

/** Encodes objects as JSON. The driver would encode an array as a PostgreSQL array instead. */
export const toDriverRow = (row: Row) => {
  const encoded: Record<string, unknown> = {}
  for (const name in row) {
    const value = row[name]
    encoded[name] = typeof value === "object" && value !== null ? JSON.stringify(value) : value
  }
  return encoded
}
