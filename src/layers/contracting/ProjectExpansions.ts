import type { ProjectRelation } from "../../domain/contracting/Project.ts"
import { makeEntityMapper, type Row, selectList, type TableShape } from "../postgres/repository/Columns.ts"
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
