import { Effect } from "effect"
import { Contract, contractFaults } from "../../domain/contracting/Contract.ts"
import { invalid } from "../../domain/Errors.ts"
import { type Change, patched } from "../../domain/Schemas.ts"
import { resource } from "../postgres/repository/Resource.ts"

const requireValidContract = <A extends Parameters<typeof contractFaults>[0]>(contract: A, before?: Contract) => {
  const errors = contractFaults(contract, before)
  return errors.length === 0 ? Effect.succeed(contract) : Effect.fail(invalid(...errors))
}

export const contractTable = { table: "contracts", entity: Contract, relations: ["client"] }

export class Contracts extends Effect.Service<Contracts>()("layers/Contracts", {
  effect: Effect.map(
    resource({ name: "contract", ...contractTable, clientOf: ({ client }) => client }),
    (contracts) => ({
      ...contracts,
      create: (fields: Parameters<typeof contracts.create>[0]) =>
        Effect.flatMap(requireValidContract(fields), contracts.create),
      patch: (id: string, change: Change<Contract>) =>
        contracts.revise(id, (before) => requireValidContract(patched(before, change), before))
    })
  )
}) {}
