import { InvoiceLinks } from "../../layers/clientPage/InvoiceLinks.ts"
import { handleGroup } from "../server/Handlers.ts"
import { InvoiceLinksApi } from "./InvoiceLinksApi.ts"

export const invoiceLinks = handleGroup(InvoiceLinksApi, InvoiceLinks, (links) => ({
  get: ({ path }) => links.get(path.invoiceId),
  rotate: ({ path }) => links.rotate(path.invoiceId),
  revoke: ({ path }) => links.revoke(path.invoiceId)
}))
