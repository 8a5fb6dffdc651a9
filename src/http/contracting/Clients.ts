import { Effect } from "effect"
import { Attachments } from "../../layers/branding/Attachments.ts"
import { Clients } from "../../layers/contracting/Clients.ts"
import { ClientBalances } from "../../layers/payments/ClientBalances.ts"
import { handleGroup } from "../server/Handlers.ts"
import { listAll } from "../server/response/Paging.ts"
import { ClientsApi } from "./ClientsApi.ts"

const dependencies = Effect.all({ clients: Clients, attachments: Attachments, balances: ClientBalances })

const mediaTargetOf = ({ clientId, slot }: { readonly clientId: string; readonly slot: string }) => ({
  id: clientId,
  client: clientId,
  slot
})

export const clients = handleGroup(ClientsApi, dependencies, ({ attachments, balances, clients }) => ({
  list: ({ query }) => listAll(clients.readListPage(query)),
  create: ({ payload }) => clients.create(payload),
  get: ({ path }) => clients.get(path.clientId),
  balance: ({ path }) => balances.get(path.clientId),
  patch: ({ path, payload }) => clients.patch(path.clientId, payload),
  remove: ({ path }) => clients.remove(path.clientId),
  attach: ({ path, payload }) => attachments.attach(clients, mediaTargetOf(path), payload),
  detach: ({ path }) => attachments.detach(clients, mediaTargetOf(path))
}))
