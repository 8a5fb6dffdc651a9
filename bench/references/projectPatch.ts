import type { Caller } from "./caller.ts"
import { pool } from "./database.ts"
import { newId } from "./ids.ts"
import { type Project, type ProjectChange, toProject, type VersionedProjectRow } from "./project.ts"
import { lockProjectStatement, readProjectStatement, updateProjectStatement } from "./projectStatements.ts"
import { type Connection, inTransaction } from "./transaction.ts"

/** The values of `updateProjectStatement`. */
const toUpdateValues = ({ subject, tenant }: Caller, project: Project, currentSequence: number) => {
  const { contract, createdAt, description = null, id, name, order = null, updatedAt } = project
  return [
    ...[id, contract, name, description, order, createdAt, updatedAt, currentSequence + 1],
    ...[tenant, id, currentSequence],
    ...[
      tenant,
      newId("evt"),
      "project.updated",
      id,
      tenant,
      contract,
      currentSequence + 1,
      updatedAt,
      subject,
      null,
      JSON.stringify(project)
    ]
  ]
}

/** Returns "conflict" when a concurrent request changed the project after it was read. */
const tryPatch = async (
  connection: Connection,
  statement: typeof readProjectStatement,
  caller: Caller,
  id: string,
  change: ProjectChange
) => {
  const { rows } = await connection.query<VersionedProjectRow>({ ...statement, values: [caller.tenant, id] })
  if (rows[0] === undefined) return "missing"
  const { sequence, ...row } = rows[0]
  const project = toProject({ ...row, ...change, updatedAt: new Date().toISOString() })
  const { rowCount } = await connection.query({
    ...updateProjectStatement,
    values: toUpdateValues(caller, project, sequence)
  })
  return rowCount === 1 ? project : "conflict"
}

const patchLocked = (caller: Caller, id: string, change: ProjectChange) =>
  inTransaction((connection) => tryPatch(connection, lockProjectStatement, caller, id, change))

/** Optimistic update; after a conflict it locks the row and tries again. */
export const patchProject = async (caller: Caller, id: string, change: ProjectChange) => {
  const first = await tryPatch(pool, readProjectStatement, caller, id, change)
  const result = first === "conflict" ? await patchLocked(caller, id, change) : first
  if (result === "conflict") throw new Error("A locked row changed")
  return result === "missing" ? undefined : result
}
