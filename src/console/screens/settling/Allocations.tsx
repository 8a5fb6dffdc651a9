import type { Schemas } from "../../api/client.ts"
import { inTenant } from "../../api/session.ts"
import { RowLink } from "../../ui/lists/RowLink.tsx"
import { Money } from "../../ui/Value.tsx"

interface AllocationsProps {
  readonly allocations: Schemas["Payment"]["allocations"]
  readonly currencyCode: string
  /** The number of an invoice, as far as it is known yet. */
  readonly numberOf: (invoiceId: string) => string | undefined
}

/** The invoices that a payment or a credit note settles. */
export const Allocations = ({ allocations, currencyCode, numberOf }: AllocationsProps) =>
  allocations.length === 0 ? (
    <p class="muted">It settles no invoice.</p>
  ) : (
    <ul class="rows">
      {allocations.map(({ amountMinor, invoice }) => (
        <li key={invoice}>
          <RowLink
            href={inTenant(`/invoices/${invoice}`)}
            title={numberOf(invoice) ?? "Invoice"}
            side={<Money amountMinor={amountMinor} currencyCode={currencyCode} />}
          />
        </li>
      ))}
    </ul>
  )
