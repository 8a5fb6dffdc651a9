import { api, read, type Schemas } from "../../api/client.ts"
import { useQuery } from "../../api/query.ts"
import { Dialog } from "../../ui/forms/Dialog.tsx"
import { ScrollX } from "../../ui/ScrollX.tsx"
import { Shown } from "../../ui/State.tsx"
import { Money } from "../../ui/Value.tsx"

type Explanation = Schemas["InvoiceExplanation"]

/** A long explanation is read in the API; the dialog shows its beginning. */
const maxLines = 200

const Lines = ({ currencyCode, lines }: Pick<Explanation, "currencyCode" | "lines">) => (
  <ScrollX label="Lines">
    <table>
      <caption class="sr">Lines</caption>
      <thead>
        <tr>
          <th scope="col">Line</th>
          <th scope="col" class="right">
            Quantity × price
          </th>
          <th scope="col" class="right">
            Exact
          </th>
          <th scope="col" class="right">
            Rounding
          </th>
          <th scope="col" class="right">
            Discount
          </th>
          <th scope="col" class="right">
            Net
          </th>
        </tr>
      </thead>
      <tbody>
        {lines.slice(0, maxLines).map((line) => (
          <tr key={line.billable}>
            <th scope="row">{line.name}</th>
            <td class="right">
              {line.quantity} × <Money amountMinor={line.amountMinor} currencyCode={currencyCode} />
            </td>
            <td class="right">{line.product}</td>
            <td class="right">{line.roundedBy}</td>
            <td class="right">
              {line.discountMinor === 0 ? "" : <Money amountMinor={-line.discountMinor} currencyCode={currencyCode} />}
            </td>
            <td class="right">
              <Money amountMinor={line.lineTotalMinor} currencyCode={currencyCode} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </ScrollX>
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
