import { Emails } from "../../layers/contracting/Emails.ts"
import { handleGroup } from "../server/Handlers.ts"
import { listPage } from "../server/response/Paging.ts"
import { EmailsApi } from "./EmailsApi.ts"

export const emails = handleGroup(EmailsApi, Emails, (emails) => ({
  list: ({ query }) => listPage(query, (window) => emails.page(window, { contact: query.contactId })),
  create: ({ payload: { contactId, ...fields } }) => emails.create({ ...fields, contact: contactId }),
  get: ({ path }) => emails.get(path.emailId),
  patch: ({ path, payload }) => emails.patch(path.emailId, payload),
  remove: ({ path }) => emails.remove(path.emailId)
}))
