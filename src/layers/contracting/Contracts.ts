import { Effect } from "effect"
import { Contract, requireValidContract } from "../../domain/contracting/Contract.ts"
import { applyPatch, type Patch } from "../../domain/Schemas.ts"
import { makeResource } from "../postgres/repository/Resource.ts"
import { withSpans } from "../telemetry/UseCaseSpans.ts"

export const contractTable = { table: "contracts", entity: Contract, relations: ["client"] }

export class Contracts extends Effect.Service<Contracts>()("layers/Contracts", {
  effect: Effect.map(
    makeResource({ name: "contract", ...contractTable, clientOf: ({ client }) => client }),
    (contracts) => ({
      ...contracts,
      create: (fields: Parameters<typeof contracts.create>[0]) =>
        Effect.flatMap(requireValidContract(fields), contracts.create),
      patch: (id: string, change: Patch<Contract>) =>
        contracts.updateWith(id, (before) => requireValidContract(applyPatch(before, change), before))
    })
  ).pipe(withSpans("Contracts"))
}) {}
