import { pool } from "./database.ts"
import { type ProjectRow, projectOf } from "./project.ts"
import { projectOfCaller } from "./projectStatements.ts"
import type { Principal } from "./tokens.ts"

type Row = ProjectRow & Readonly<Record<string, unknown>>

const stamps = ["createdAt", "updatedAt"]
const terms = ["status", "currencyCode", "startsAt", "endsAt", "paymentTermDays", "capMinor"]
const contractFields = ["id", "client", "name", "description", ...terms, "order", ...stamps]
const clientFields = ["id", "name", "description", "order", "media", ...stamps]

/** Reads the fields named after a prefix. A column without a value is a field left out. */
const reader = (prefix: string, fields: ReadonlyArray<string>) => {
  const columns = fields.map((field) => [field, prefix + field] as const)
  return (row: Row) => {
    const read: Record<string, unknown> = {}
    for (const [field, column] of columns) if (row[column] !== null) read[field] = row[column]
    return read
  }
}

const contractOf = reader("contract.", contractFields)
const clientOf = reader("contract.client.", clientFields)

const shapes = {
  alone: projectOf,
  contract: (row: Row) => ({ ...projectOf(row), contract: contractOf(row) }),
  client: (row: Row) => ({ ...projectOf(row), contract: { ...contractOf(row), client: clientOf(row) } })
}

export type Extent = keyof typeof shapes

const known = ["contract", "contract.client"]

/** How much the text of `expand` asks for, or undefined when it asks for what there is not. */
export const extentOf = (expand: string | undefined): Extent | undefined => {
  if (expand === undefined) return "alone"
  const asked = expand.split(",").map((name) => name.trim())
  if (!asked.every((name) => known.includes(name))) return undefined
  return asked.includes("contract.client") ? "client" : "contract"
}

/** A project of any tenant the caller belongs to. */
export const readProject = async ({ issuer, subject }: Principal, id: string, extent: Extent) => {
  const { rows } = await pool.query<Row>({ ...projectOfCaller[extent], values: [issuer, subject, id] })
  return rows[0] === undefined ? undefined : shapes[extent](rows[0])
}
