import * as SqlClient from "@effect/sql/SqlClient"
import { Effect, Record } from "effect"
import { type ExpandedProject, Project, type ProjectRelation } from "../../domain/contracting/Project.ts"
import { NotFound } from "../../domain/Errors.ts"
import { Principal } from "../../domain/tenancy/RequestContext.ts"
import { makeEntityMapper, type Row, selectList } from "../postgres/repository/Columns.ts"
import { makeResource } from "../postgres/repository/Resource.ts"
import { deepestRelation, projectExpansions } from "./ProjectExpansions.ts"

const projectTable = { table: "projects", entity: Project, relations: ["contract"] }

export class Projects extends Effect.Service<Projects>()("layers/Projects", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const projects = yield* makeResource({
      name: "project",
      ...projectTable,
      clientOf: ({ contract }, tenant) =>
        sql`(select client_id from contracts where tenant_id = ${tenant} and id = ${contract})`
    })
    const toProject = makeEntityMapper(Project)
    const projectColumns = selectList({ ...projectTable, fields: Project.fields })
    const queriesByRelation = Record.map(projectExpansions, ({ columns, joins, read }) => ({
      columns: sql.literal(projectColumns + columns),
      joins: sql.literal(joins),
      read
    }))

    return {
      ...projects,

      /** A project of any tenant of the caller, with its expanded relations, in one statement. */
      getForCaller: Effect.fnUntraced(function* (id: string, relations: ReadonlyArray<ProjectRelation> = []) {
        const { issuer, subject } = yield* Principal
        const { columns, joins, read } = queriesByRelation[deepestRelation(relations)]
        const [row] = yield* Effect.orDie(sql<Row>`
          select ${columns} from projects this
          join tenants t on t.id = this.tenant_id and t.deleted_at is null
          join members m on m.tenant_id = this.tenant_id and m.issuer = ${issuer} and m.subject = ${subject}
          ${joins} where this.id = ${id}`)
        if (row === undefined) return yield* Effect.fail(new NotFound())
        // The columns are named after the fields of the schemas.
        return { ...toProject(row), ...read(row) } as unknown as ExpandedProject
      })
    }
  })
}) {}
