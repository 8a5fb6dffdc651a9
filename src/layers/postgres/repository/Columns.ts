import type { Schema } from "effect"

/** How a resource lies in its table: every field is a column, `createdAt` being `created_at`. */
export interface Shape {
  readonly table: string
  readonly fields: Schema.Struct.Fields
  /** Fields that name another resource; `client` lies in `client_id`. */
  readonly relations?: ReadonlyArray<string>
}

export const columnOf = ({ relations = [] }: Shape, field: string) =>
  relations.includes(field) ? `${field}_id` : field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** The select list that reads a row in the field order of its schema, each field under its name after `prefix`. */
export const selectList = (shape: Shape, row = "this", prefix = "") =>
  Object.keys(shape.fields)
    .map((name) => `${row}."${columnOf(shape, name)}" as "${prefix}${name}"`)
    .join(", ")

export type Row = Readonly<Record<string, unknown>>

/** A column without a value is a field left out. */
export const present = (row: Row) => {
  const entity: Record<string, unknown> = {}
  for (const name in row) {
    const value = row[name]
    if (value !== null && value !== undefined) entity[name] = value
  }
  return entity
}

/** Puts fields, each found under its name after `prefix`, into the order the schema names them. */
export const arranger = ({ fields }: Pick<Shape, "fields">, prefix = "") => {
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

/** Makes the row a resource is stored as: always every column, so that the statement's text is always the same. */
export const rowMaker = (shape: Shape) => {
  const columns = Object.keys(shape.fields).map((name) => [name, columnOf(shape, name)] as const)
  return (entity: Row) => {
    const row: Record<string, unknown> = {}
    for (const [name, column] of columns) row[column] = entity[name] ?? null
    return row
  }
}

/** A resource in JSON, as it is shown and as the row it is stored as. */
export interface Texts {
  readonly shown: string
  readonly row: string
}

/**
 * Writes resources as JSON, given in two parts, in the field order of their schema, and the columns of their rows beside
 * `more`, which is JSON without its brackets. Each value is written once: objects made for each only to be written cost
 * several times as much.
 */
export const textsMaker = (shape: Shape) => {
  const names = Object.keys(shape.fields).map((name) => [name, `"${name}":`, `"${columnOf(shape, name)}":`] as const)
  return (stamps: Row, fields: Row, more: string): Texts => {
    let shown = ""
    let row = more
    for (const [name, key, column] of names) {
      const value = stamps[name] ?? fields[name]
      if (value === null || value === undefined) continue
      const text = JSON.stringify(value)
      shown += `${shown === "" ? "" : ","}${key}${text}`
      row += `,${column}${text}`
    }
    return { shown: `{${shown}}`, row: `{${row}}` }
  }
}

/** A row as the driver takes it: it would mistake an array for one of PostgreSQL's own. */
export const driverRow = (row: Row) => {
  const given: Record<string, unknown> = {}
  for (const name in row) {
    const value = row[name]
    given[name] = typeof value === "object" && value !== null ? JSON.stringify(value) : value
  }
  return given
}
