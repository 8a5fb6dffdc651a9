import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { Address } from "../../domain/contracting/Address.ts"
import type { PageRequest } from "../../domain/Paging.ts"
import { makeResource } from "../infra/postgres/repository/Resource.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"

interface Filter {
  readonly clientId?: string | undefined
  readonly ofTenant?: boolean | undefined
}

export class Addresses extends Effect.Service<Addresses>()("layers/Addresses", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const addresses = yield* makeResource({
      name: "address",
      table: "addresses",
      entity: Address,
      relations: ["client"],
      clientOf: ({ client }) => client
    })
    return {
      ...addresses,

      list: (window: PageRequest, { clientId, ofTenant }: Filter) =>
        addresses.page(
          window,
          { client: clientId },
          ofTenant === undefined ? undefined : ofTenant ? sql`this.client_id is null` : sql`this.client_id is not null`
        )
    }
  }).pipe(withSpans("Addresses"))
}) {}
