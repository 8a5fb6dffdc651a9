import { applyContractDefaults } from "../../../domain/contracting/Contract.ts"
import { Contracts } from "../../../layers/contracting/Contracts.ts"
import { ContractsApi } from "../../api/groups/contracting/Contracts.ts"
import { handleGroup, provideShared } from "../../server/Handlers.ts"
import { listPage } from "../../server/response/Paging.ts"

export const contracts = handleGroup(ContractsApi, Contracts.pipe(provideShared(Contracts.Default)), (contracts) => ({
  list: ({ query }) => listPage(query, (window) => contracts.list(window, query)),
  create: ({ payload }) => contracts.create(applyContractDefaults(payload)),
  get: ({ path }) => contracts.get(path.contractId),
  patch: ({ path, payload }) => contracts.patch(path.contractId, payload),
  remove: ({ path }) => contracts.remove(path.contractId)
}))
