import { Addresses } from "../../layers/contracting/Addresses.ts"
import { handleGroup } from "../server/Handlers.ts"
import { listPage } from "../server/response/Paging.ts"
import { AddressesApi } from "./AddressesApi.ts"

export const addresses = handleGroup(AddressesApi, Addresses, (addresses) => ({
  list: ({ query }) => listPage(query, (window) => addresses.list(window, query)),
  create: ({ payload: { clientId, ...fields } }) =>
    addresses.create(clientId === undefined ? fields : { ...fields, client: clientId }),
  get: ({ path }) => addresses.get(path.addressId),
  patch: ({ path, payload }) => addresses.patch(path.addressId, payload),
  remove: ({ path }) => addresses.remove(path.addressId)
}))
