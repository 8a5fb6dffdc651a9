import { Effect } from "effect"
import { Client } from "../../../domain/contracting/Client.ts"
import { media } from "../Media.ts"
import { resource } from "../resource/Resource.ts"

export const clientTable = { table: "clients", entity: Client, computed: { media } }

export class Clients extends Effect.Service<Clients>()("layers/Clients", {
  effect: resource({ name: "client", ...clientTable, clientOf: ({ id }) => id })
}) {}
