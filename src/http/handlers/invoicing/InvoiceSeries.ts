import { InvoiceNumbers } from "../../../layers/invoicing/NumberSeries.ts"
import { InvoiceSeriesApi } from "../../api/groups/invoicing/InvoiceSeries.ts"
import { handleGroup, provideShared } from "../../server/Handlers.ts"

export const invoiceSeries = handleGroup(
  InvoiceSeriesApi,
  InvoiceNumbers.pipe(provideShared(InvoiceNumbers.Default)),
  (numbers) => ({
    get: () => numbers.getSeries,
    patch: ({ payload }) => numbers.update(payload)
  })
)
