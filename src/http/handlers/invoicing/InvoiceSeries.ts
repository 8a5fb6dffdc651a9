import { Effect } from "effect"
import { InvoiceNumbers } from "../../../layers/invoicing/NumberSeries.ts"
import { InvoiceSeriesApi } from "../../api/groups/invoicing/InvoiceSeries.ts"
import { handleGroup } from "../../server/Handlers.ts"

export const invoiceSeries = handleGroup(
  InvoiceSeriesApi,
  Effect.provide(InvoiceNumbers, InvoiceNumbers.Default),
  (numbers) => ({
    get: () => numbers.getSeries,
    patch: ({ payload }) => numbers.update(payload)
  })
)
