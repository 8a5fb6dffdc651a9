import { Fragment } from "preact"
import { api, read, type Schemas } from "../../api/client.ts"
import { useQuery } from "../../api/query.ts"
import { Dialog } from "../../ui/forms/Dialog.tsx"
import { Shown } from "../../ui/State.tsx"
import { Table } from "../../ui/Table.tsx"
import { Money } from "../../ui/Value.tsx"

type Explanation = Schemas["InvoiceExplanation"]

/** A long explanation is read in the API; the dialog shows its beginning. */
const maxLines = 200

const numbers = ["Quantity × price", "Exact", "Rounding", "Discount", "Net"]

const Lines = ({ currencyCode, lines }: Pick<Explanation, "currencyCode" | "lines">) => (
  <Table
    label="Lines"
    columns={["Line", ...numbers]}
    right={numbers}
    rows={lines.slice(0, maxLines).map((line) => ({
      key: line.billable,
      cells: [
        line.name,
        <Fragment key="product">
          {line.quantity} × <Money amountMinor={line.amountMinor} currencyCode={currencyCode} />
        </Fragment>,
        line.product,
        line.roundedBy,
        line.discountMinor !== 0 && <Money amountMinor={-line.discountMinor} currencyCode={currencyCode} />,
        <Money key="net" amountMinor={line.lineTotalMinor} currencyCode={currencyCode} />
      ]
    }))}
  />
)

const Taxes = ({ currencyCode, taxes }: Pick<Explanation, "currencyCode" | "taxes">) => (
  <ul class="checks">
    {taxes.map(({ baseMinor, name, percent, product, roundedBy, taxMinor }) => (
      <li key={name + percent}>
        {name}: {percent} % of <Money amountMinor={baseMinor} currencyCode={currencyCode} /> is {product}, rounded by{" "}
        {roundedBy} to{" "}
        <strong>
          <Money amountMinor={taxMinor} currencyCode={currencyCode} />
        </strong>
      </li>
    ))}
  </ul>
)

/** How the total comes about, step by step. */
export const ExplainDialog = ({ invoiceId, onClose }: { readonly invoiceId: string; readonly onClose: () => void }) => {
  const query = useQuery(`explain ${invoiceId}`, () =>
    read(api.GET("/api/v1/invoices/{invoiceId}/explain", { params: { path: { invoiceId } } }))
  )
  return (
    <Dialog title="How the total comes about" onClose={onClose} isWide>
      <Shown query={query}>
        {({ currencyCode, discountMinor, lines, rounding, subtotalMinor, taxes, totalMinor }) => (
          <>
            <p class="muted">Rounded {rounding}. Exact products are in minor units.</p>
            <Lines lines={lines} currencyCode={currencyCode} />
            {lines.length > maxLines && <p class="muted">{lines.length - maxLines} more lines are not shown.</p>}
            <p>
              Subtotal <Money amountMinor={subtotalMinor} currencyCode={currencyCode} />
              {discountMinor > 0 && (
                <>
                  , less a discount of <Money amountMinor={discountMinor} currencyCode={currencyCode} />
                </>
              )}
            </p>
            <Taxes taxes={taxes} currencyCode={currencyCode} />
            <p>
              <strong>
                Total <Money amountMinor={totalMinor} currencyCode={currencyCode} />
              </strong>
            </p>
          </>
        )}
      </Shown>
    </Dialog>
  )
}
