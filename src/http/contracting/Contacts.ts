import { Contacts } from "../../layers/contracting/Contacts.ts"
import { handleGroup } from "../server/Handlers.ts"
import { listPage } from "../server/response/Paging.ts"
import { ContactsApi } from "./ContactsApi.ts"

export const contacts = handleGroup(ContactsApi, Contacts, (contacts) => ({
  list: ({ query }) => listPage(query, (window) => contacts.page(window, { client: query.clientId })),
  create: ({ payload: { clientId, ...fields } }) => contacts.create({ ...fields, client: clientId }),
  get: ({ path }) => contacts.get(path.contactId),
  patch: ({ path, payload }) => contacts.patch(path.contactId, payload),
  remove: ({ path }) => contacts.remove(path.contactId)
}))
