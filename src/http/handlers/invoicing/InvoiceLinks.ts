import { InvoiceLinks } from "../../../layers/clientPage/InvoiceLinks.ts"
import { InvoiceLinksApi } from "../../api/groups/invoicing/InvoiceLinks.ts"
import { handleGroup, provideShared } from "../../server/Handlers.ts"

export const invoiceLinks = handleGroup(
  InvoiceLinksApi,
  InvoiceLinks.pipe(provideShared(InvoiceLinks.Default)),
  (links) => ({
    get: ({ path }) => links.get(path.invoiceId),
    rotate: ({ path }) => links.rotate(path.invoiceId),
    revoke: ({ path }) => links.revoke(path.invoiceId)
  })
)
