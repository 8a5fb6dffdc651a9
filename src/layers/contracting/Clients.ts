import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { Client, type CreateClient, type clientSorts } from "../../domain/contracting/Client.ts"
import { byAge, byName } from "../infra/postgres/repository/Keyset.ts"
import { makeListPageReader } from "../infra/postgres/repository/ListPageReader.ts"
import { makeResource } from "../infra/postgres/repository/Resource.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"

export const clientTable = { table: "clients", entity: Client }

export class Clients extends Effect.Service<Clients>()("layers/Clients", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const clients = yield* makeResource({ name: "client", ...clientTable, clientOf: ({ id }) => id })
    return {
      ...clients,
      create: (fields: typeof CreateClient.Type) => clients.create({ ...fields, media: [] }),
      /** Reads the page of the list of all clients after a position, or the first page. */
      readListPage: makeListPageReader<Client>(sql, { ...clientTable, fields: Client.fields }, {
        name: byName,
        createdAt: byAge
      } satisfies Record<(typeof clientSorts)[number], unknown>)
    }
  }).pipe(withSpans("Clients"))
}) {}
