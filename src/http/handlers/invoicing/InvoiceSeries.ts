import { Effect } from "effect"
import { InvoiceNumbers } from "../../../layers/invoicing/InvoiceNumbers.ts"
import { InvoiceSeriesApi } from "../../api/groups/invoicing/InvoiceSeries.ts"
import { handle } from "../../server/Handlers.ts"

export const invoiceSeries = handle(
  InvoiceSeriesApi,
  Effect.provide(InvoiceNumbers, InvoiceNumbers.Default),
  (numbers) => ({
    get: () => numbers.prove,
    patch: ({ payload }) => numbers.use(payload.pattern)
  })
)
