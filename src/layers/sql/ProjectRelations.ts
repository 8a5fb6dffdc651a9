import type { ProjectRelation } from "../../domain/Project.ts"
import { clientTable } from "./Clients.ts"
import { contractTable } from "./Contracts.ts"
import { arranger, type Row, type Shape, selectList } from "./resource/Columns.ts"

const contract: Shape = { ...contractTable, fields: contractTable.entity.fields }
const client: Shape = { ...clientTable, fields: clientTable.entity.fields }

const contractOf = arranger(contract, "contract.")
const clientOf = arranger(client, "contract.client.")

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

const alone = { columns: "", joins: "", read: () => ({}) }

/** What to read beside a project, from where, and what to show in place of the identifier of its contract. */
export const beside = (relations: ReadonlyArray<ProjectRelation>) => {
  if (relations.includes("contract.client")) return withClient
  return relations.includes("contract") ? withContract : alone
}
