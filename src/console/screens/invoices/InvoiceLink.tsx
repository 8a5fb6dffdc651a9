import type { Schemas } from "../../api/client.ts"
import { inTenant } from "../../api/session.ts"
import { RowLink } from "../../ui/lists/RowLink.tsx"
import { Badge, Day, Money } from "../../ui/Value.tsx"
import { invoiceTitle } from "./invoiceTitle.ts"

/** An invoice among others of the same client or contract. */
export const InvoiceLink = ({ invoice }: { readonly invoice: Schemas["Invoice"] }) => (
  <RowLink
    href={inTenant(`/invoices/${invoice.id}`)}
    title={invoiceTitle(invoice)}
    about={<Day at={invoice.issuedAt ?? invoice.createdAt} />}
    side={
      <>
        <Money amountMinor={invoice.totalMinor} currencyCode={invoice.currencyCode} />
        <Badge status={invoice.status} />
      </>
    }
  />
)
