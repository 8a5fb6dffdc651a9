import { pool } from "./database.ts"
import { newId } from "./ids.ts"
import { type Project, type ProjectChange, projectOf, type VersionedRow } from "./project.ts"
import { changeProject, heldProject, newestProject } from "./projectStatements.ts"
import { type Connection, inTransaction } from "./transaction.ts"

/** The values of the statement that stores a changed project and its event. */
const storing = (tenant: string, project: Project, seen: number) => {
  const { contract, createdAt, description = null, id, name, order = null, updatedAt: at } = project
  return [
    ...[id, contract, name, description, order, createdAt, at, seen + 1],
    ...[tenant, id, seen],
    ...[tenant, newId("evt"), "project.updated", id, tenant, contract, seen + 1, at, JSON.stringify(project)]
  ]
}

/** The changed project, "missing" when there is none, or "overtaken" when somebody else changed it meanwhile. */
const attempt = async (
  connection: Connection,
  reading: typeof newestProject,
  tenant: string,
  id: string,
  change: ProjectChange
) => {
  const { rows } = await connection.query<VersionedRow>({ ...reading, values: [tenant, id] })
  if (rows[0] === undefined) return "missing"
  const { sequence, ...row } = rows[0]
  const project = projectOf({ ...row, ...change, updatedAt: new Date().toISOString() })
  const { rowCount } = await connection.query({ ...changeProject, values: storing(tenant, project, sequence) })
  return rowCount === 1 ? project : "overtaken"
}

const holding = (tenant: string, id: string, change: ProjectChange) =>
  inTransaction((connection) => attempt(connection, heldProject, tenant, id, change))

/** Changes the newest version of a project. Whoever was overtaken holds the row and changes it again. */
export const patchProject = async (tenant: string, id: string, change: ProjectChange) => {
  const first = await attempt(pool, newestProject, tenant, id, change)
  const done = first === "overtaken" ? await holding(tenant, id, change) : first
  if (done === "overtaken") throw new Error("A held row was overtaken")
  return done === "missing" ? undefined : done
}
