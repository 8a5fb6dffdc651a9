import { Effect } from "effect"
import { CreditNoteNumbers } from "../../../layers/invoicing/NumberSeries.ts"
import { CreditNoteSeriesApi } from "../../api/groups/invoicing/CreditNoteSeries.ts"
import { handleGroup } from "../../server/Handlers.ts"

export const creditNoteSeries = handleGroup(
  CreditNoteSeriesApi,
  Effect.provide(CreditNoteNumbers, CreditNoteNumbers.Default),
  (numbers) => ({
    get: () => numbers.getSeries,
    patch: ({ payload }) => numbers.update(payload)
  })
)
