import * as SqlClient from "@effect/sql/SqlClient"
import { Effect, Record } from "effect"
import {
  type ExpandedProject,
  Project,
  type ProjectRelation,
  type projectSorts
} from "../../domain/contracting/Project.ts"
import { NotFound } from "../../domain/Errors.ts"
import type { PageRequest } from "../../domain/Paging.ts"
import { CurrentTenant, Principal } from "../../domain/tenancy/RequestContext.ts"
import { makeEntityMapper, type Row, selectList, type TableShape } from "../infra/postgres/repository/Columns.ts"
import { byAge, byName, searchCondition } from "../infra/postgres/repository/Keyset.ts"
import type { ListQuery } from "../infra/postgres/repository/ListPageReader.ts"
import { makeResource } from "../infra/postgres/repository/Resource.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { clientTable } from "./Clients.ts"
import { contractTable } from "./Contracts.ts"

const contract: TableShape = { ...contractTable, fields: contractTable.entity.fields }
const client: TableShape = { ...clientTable, fields: clientTable.entity.fields }

const contractOf = makeEntityMapper(contract, "contract.")
const clientOf = makeEntityMapper(client, "contract.client.")

const withContract = {
  columns: `, ${selectList(contract, "contract", "contract.")}`,
  joins: "join contracts contract on contract.tenant_id = this.tenant_id and contract.id = this.contract_id",
  read: (row: Row) => ({ contract: contractOf(row) })
}

const withClient = {
  columns: `${withContract.columns}, ${selectList(client, "client", "contract.client.")}`,
  joins: `${withContract.joins}
    join clients client on client.tenant_id = this.tenant_id and client.id = contract.client_id`,
  read: (row: Row) => ({ contract: { ...contractOf(row), client: clientOf(row) } })
}

/** The columns and joins per expanded relation, and the function that reads the expanded contract from a row. */
export const projectExpansions = {
  nothing: { columns: "", joins: "", read: () => ({}) },
  contract: withContract,
  "contract.client": withClient
}

export const deepestRelation = (relations: ReadonlyArray<ProjectRelation>) =>
  relations.includes("contract.client") ? "contract.client" : (relations[0] ?? "nothing")

interface Filter extends ListQuery {
  readonly clientId?: string | undefined
  readonly contractId?: string | undefined
}

const projectTable = { table: "projects", entity: Project, relations: ["contract"] }

export class Projects extends Effect.Service<Projects>()("layers/Projects", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const projects = yield* makeResource({
      name: "project",
      ...projectTable,
      clientOf: ({ contract }, tenant) =>
        sql`(select client_id from contracts where tenant_id = ${tenant} and id = ${contract})`,
      sorts: { name: byName, createdAt: byAge } satisfies Record<(typeof projectSorts)[number], unknown>
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

      list: (window: PageRequest, { clientId, contractId, q, sort }: Filter) =>
        Effect.flatMap(CurrentTenant, (tenant) => {
          const ofClient =
            clientId === undefined
              ? sql.literal("true")
              : sql`this.contract_id = any(array(
                  select id from contracts where tenant_id = ${tenant} and client_id = ${clientId}))`
          const search = searchCondition(sql, tenant, projectTable.table, q)
          return projects.page(window, { contract: contractId }, sql`${ofClient} and ${search}`, sort)
        }),

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
  }).pipe(withSpans("Projects"))
}) {}
