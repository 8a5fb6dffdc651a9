import { InvoiceNumbers } from "../../layers/invoicing/NumberSeries.ts"
import { handleGroup } from "../server/Handlers.ts"
import { InvoiceSeriesApi } from "./InvoiceSeriesApi.ts"

export const invoiceSeries = handleGroup(InvoiceSeriesApi, InvoiceNumbers, (numbers) => ({
  get: () => numbers.getSeries,
  patch: ({ payload }) => numbers.update(payload)
}))
