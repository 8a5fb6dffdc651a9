import { pool } from "./database.ts"
import { type ProjectRow, toProject } from "./project.ts"
import { readProjectStatements } from "./projectStatements.ts"
import type { Principal } from "./tokens.ts"

type ExpandedRow = ProjectRow & Readonly<Record<string, unknown>>

const stamps = ["createdAt", "updatedAt"]
const terms = ["status", "currencyCode", "startsAt", "endsAt", "paymentTermDays", "capMinor"]
const contractFields = ["id", "client", "name", "description", ...terms, "order", ...stamps]
const clientFields = ["id", "name", "description", "order", "media", ...stamps]

/** Reads the columns with a prefix into an object. A null column is an absent field. */
const makeFieldReader = (prefix: string, fields: ReadonlyArray<string>) => {
  const columns = fields.map((field) => [field, prefix + field] as const)
  return (row: ExpandedRow) => {
    const value: Record<string, unknown> = {}
    for (const [field, column] of columns) if (row[column] !== null) value[field] = row[column]
    return value
  }
}

const readContract = makeFieldReader("contract.", contractFields)
const readClient = makeFieldReader("contract.client.", clientFields)

const expansions = {
  alone: toProject,
  contract: (row: ExpandedRow) => ({ ...toProject(row), contract: readContract(row) }),
  client: (row: ExpandedRow) => ({ ...toProject(row), contract: { ...readContract(row), client: readClient(row) } })
}

export type Expansion = keyof typeof expansions

const expandableRelations = ["contract", "contract.client"]

/** Undefined when `expand` contains an unknown relation. */
export const parseExpand = (expand: string | undefined): Expansion | undefined => {
  if (expand === undefined) return "alone"
  const relations = expand.split(",").map((name) => name.trim())
  if (!relations.every((name) => expandableRelations.includes(name))) return undefined
  return relations.includes("contract.client") ? "client" : "contract"
}

/** Reads a project of any tenant of the caller. */
export const readProject = async ({ issuer, subject }: Principal, id: string, expansion: Expansion) => {
  const { rows } = await pool.query<ExpandedRow>({ ...readProjectStatements[expansion], values: [issuer, subject, id] })
  return rows[0] === undefined ? undefined : expansions[expansion](rows[0])
}
