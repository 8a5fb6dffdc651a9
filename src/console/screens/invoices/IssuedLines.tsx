import type { Schemas } from "../../api/client.ts"
import { formatNumber } from "../../ui/format.ts"
import { VirtualList } from "../../ui/lists/VirtualList.tsx"
import { Money } from "../../ui/Value.tsx"
import { Totals } from "./Totals.tsx"

interface IssuedLinesProps {
  readonly invoice: Schemas["Invoice"]
  readonly lines: ReadonlyArray<Schemas["Billable"]>
}

/** As high as `.virtual .row` in the style sheet. */
const rowHeight = 64

/** The lines of an invoice that cannot change. */
export const IssuedLines = ({ invoice, lines }: IssuedLinesProps) => {
  const { currencyCode } = invoice
  return (
    <div class="card flush editor">
      <VirtualList
        items={lines}
        rowHeight={rowHeight}
        label="Lines"
        keyOf={({ id }) => id}
        row={({ amountMinor, description, lineTotalMinor, name, quantity, referenceId }) => (
          <div class="row still">
            <span class="row-main">
              <strong>{name}</strong>
              <span class="muted">{description ?? referenceId}</span>
            </span>
            <span class="muted quantity-of">
              {formatNumber(quantity)} × <Money amountMinor={amountMinor} currencyCode={currencyCode} />
            </span>
            <span class="row-side">
              <Money amountMinor={lineTotalMinor} currencyCode={currencyCode} />
            </span>
          </div>
        )}
      />
      <div class="editor-foot">
        <span />
        <Totals amounts={invoice} currencyCode={currencyCode} />
      </div>
    </div>
  )
}
