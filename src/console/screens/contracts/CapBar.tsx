import type { Schemas } from "../../api/client.ts"
import { formatMoney } from "../../ui/format.ts"
import { Money } from "../../ui/Value.tsx"

type Billing = Schemas["ContractBilling"]

const percentOf = (part: number, whole: number) => (whole <= 0 ? 0 : Math.min(Math.max((part / whole) * 100, 0), 100))

/** How much of a contract's cap is billed, drafted and left. */
export const CapBar = ({ billing }: { readonly billing: Billing }) => {
  const { capMinor, currencyCode, draftedMinor, issuedMinor, leftMinor } = billing
  const money = (amountMinor: number) => formatMoney(amountMinor, currencyCode)
  const label =
    capMinor === undefined
      ? `Billed ${money(issuedMinor)}, in drafts ${money(draftedMinor)}, no cap`
      : `Billed ${money(issuedMinor)}, in drafts ${money(draftedMinor)}, left ${money(leftMinor ?? 0)} of ${money(capMinor)}`
  const issued = capMinor === undefined ? 0 : percentOf(issuedMinor, capMinor)
  const drafted = capMinor === undefined ? 0 : Math.min(percentOf(draftedMinor, capMinor), 100 - issued)
  return (
    <div class="cap">
      {capMinor !== undefined && (
        <svg class="bar" role="img" aria-label={label} viewBox="0 0 100 4" preserveAspectRatio="none">
          <rect class="bar-left" width="100" height="4" />
          <rect class="bar-issued" width={issued} height="4" />
          <rect class="bar-drafted" x={issued} width={drafted} height="4" />
        </svg>
      )}
      <dl class="legend">
        <div>
          <dt>
            <i class="dot issued" aria-hidden="true" /> Billed
          </dt>
          <dd>
            <Money amountMinor={issuedMinor} currencyCode={currencyCode} />
          </dd>
        </div>
        <div>
          <dt>
            <i class="dot drafted" aria-hidden="true" /> In drafts
          </dt>
          <dd>
            <Money amountMinor={draftedMinor} currencyCode={currencyCode} />
          </dd>
        </div>
        <div>
          <dt>
            <i class="dot left" aria-hidden="true" /> Left
          </dt>
          <dd>{leftMinor === undefined ? "No cap" : <Money amountMinor={leftMinor} currencyCode={currencyCode} />}</dd>
        </div>
      </dl>
    </div>
  )
}
