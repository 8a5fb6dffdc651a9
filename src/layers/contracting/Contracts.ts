import { Effect } from "effect"
import { Contract, contractFaults } from "../../domain/contracting/Contract.ts"
import { invalid } from "../../domain/Errors.ts"
import { type Change, patched } from "../../domain/Schemas.ts"
import { resource } from "../postgres/repository/Resource.ts"

/** The contract, unless the business objects to it. */
const agreed = <A extends Parameters<typeof contractFaults>[0]>(contract: A, before?: Contract) => {
  const faults = contractFaults(contract, before)
  return faults.length === 0 ? Effect.succeed(contract) : Effect.fail(invalid(...faults))
}

export const contractTable = { table: "contracts", entity: Contract, relations: ["client"] }

export class Contracts extends Effect.Service<Contracts>()("layers/Contracts", {
  effect: Effect.map(
    resource({ name: "contract", ...contractTable, clientOf: ({ client }) => client }),
    (contracts) => ({
      ...contracts,
      create: (fields: Parameters<typeof contracts.create>[0]) => Effect.flatMap(agreed(fields), contracts.create),
      patch: (id: string, change: Change<Contract>) =>
        contracts.revise(id, (before) => agreed(patched(before, change), before))
    })
  )
}) {}
