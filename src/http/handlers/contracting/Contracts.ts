import { Effect, Layer } from "effect"
import { applyContractDefaults } from "../../../domain/contracting/Contract.ts"
import { Contracts } from "../../../layers/contracting/Contracts.ts"
import { ContractBillings } from "../../../layers/invoicing/ContractBillings.ts"
import { ContractsApi } from "../../api/groups/contracting/Contracts.ts"
import { handleGroup, provideShared } from "../../server/Handlers.ts"
import { listPage } from "../../server/response/Paging.ts"

const dependencies = Effect.all({ contracts: Contracts, billings: ContractBillings }).pipe(
  provideShared(Layer.merge(Contracts.Default, ContractBillings.Default))
)

export const contracts = handleGroup(ContractsApi, dependencies, ({ billings, contracts }) => ({
  list: ({ query }) => listPage(query, (window) => contracts.list(window, query)),
  create: ({ payload }) => contracts.create(applyContractDefaults(payload)),
  get: ({ path }) => contracts.get(path.contractId),
  billing: ({ path }) => billings.get(path.contractId),
  patch: ({ path, payload }) => contracts.patch(path.contractId, payload),
  remove: ({ path }) => contracts.remove(path.contractId)
}))
