import { Effect } from "effect"
import { Client, type CreateClient } from "../../../domain/contracting/Client.ts"
import { resource } from "../resource/Resource.ts"

export const clientTable = { table: "clients", entity: Client }

export class Clients extends Effect.Service<Clients>()("layers/Clients", {
  effect: Effect.map(resource({ name: "client", ...clientTable, clientOf: ({ id }) => id }), (clients) => ({
    ...clients,
    create: (fields: typeof CreateClient.Type) => clients.create({ ...fields, media: [] })
  }))
}) {}
