import type { InvoiceAmounts } from "../../../domain/money/InvoiceArithmetic.ts"
import { Money } from "../../ui/Value.tsx"

interface TotalsProps {
  readonly amounts: Pick<InvoiceAmounts, "subtotalMinor" | "discountMinor" | "taxes" | "totalMinor"> | undefined
  readonly currencyCode: string
}

const Row = ({
  amountMinor,
  currencyCode,
  isTotal = false,
  label
}: {
  readonly label: string
  readonly amountMinor: number
  readonly currencyCode: string
  readonly isTotal?: boolean
}) => (
  <div class={isTotal ? "sum" : ""}>
    <dt>{label}</dt>
    <dd data-amount={amountMinor}>
      <Money amountMinor={amountMinor} currencyCode={currencyCode} />
    </dd>
  </div>
)

/** The sums of an invoice, as its document shows them. */
export const Totals = ({ amounts, currencyCode }: TotalsProps) =>
  amounts === undefined ? (
    <p class="error" role="alert">
      The amounts are too large.
    </p>
  ) : (
    <dl class="totals" aria-label="Totals">
      <Row label="Subtotal" amountMinor={amounts.subtotalMinor} currencyCode={currencyCode} />
      {amounts.discountMinor > 0 && (
        <Row label="Discount" amountMinor={-amounts.discountMinor} currencyCode={currencyCode} />
      )}
      {amounts.taxes.map(({ name, percent, taxMinor, taxRates }) => (
        <Row
          key={taxRates.join(" ")}
          label={name.includes("%") ? name : `${name} ${percent} %`}
          amountMinor={taxMinor}
          currencyCode={currencyCode}
        />
      ))}
      <Row label="Total" amountMinor={amounts.totalMinor} currencyCode={currencyCode} isTotal />
    </dl>
  )
