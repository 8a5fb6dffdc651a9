import { Effect } from "effect"
import { Address } from "../../domain/contracting/Address.ts"
import { makeResource } from "../postgres/repository/Resource.ts"
import { withSpans } from "../telemetry/UseCaseSpans.ts"

export class Addresses extends Effect.Service<Addresses>()("layers/Addresses", {
  effect: makeResource({
    name: "address",
    table: "addresses",
    entity: Address,
    relations: ["client"],
    clientOf: ({ client }) => client
  }).pipe(withSpans("Addresses"))
}) {}
