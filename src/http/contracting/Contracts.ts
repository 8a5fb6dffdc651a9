import { Effect } from "effect"
import { applyContractDefaults } from "../../domain/contracting/Contract.ts"
import { Contracts } from "../../layers/contracting/Contracts.ts"
import { ContractBillings } from "../../layers/invoicing/ContractBillings.ts"
import { handleGroup } from "../server/Handlers.ts"
import { listPage } from "../server/response/Paging.ts"
import { ContractsApi } from "./ContractsApi.ts"

const dependencies = Effect.all({ contracts: Contracts, billings: ContractBillings })

export const contracts = handleGroup(ContractsApi, dependencies, ({ billings, contracts }) => ({
  list: ({ query }) => listPage(query, (window) => contracts.list(window, query)),
  create: ({ payload }) => contracts.create(applyContractDefaults(payload)),
  get: ({ path }) => contracts.get(path.contractId),
  billing: ({ path }) => billings.get(path.contractId),
  patch: ({ path, payload }) => contracts.patch(path.contractId, payload),
  remove: ({ path }) => contracts.remove(path.contractId)
}))
