import { CreditNoteNumbers } from "../../../layers/invoicing/NumberSeries.ts"
import { CreditNoteSeriesApi } from "../../api/groups/invoicing/CreditNoteSeries.ts"
import { handleGroup, provideShared } from "../../server/Handlers.ts"

export const creditNoteSeries = handleGroup(
  CreditNoteSeriesApi,
  CreditNoteNumbers.pipe(provideShared(CreditNoteNumbers.Default)),
  (numbers) => ({
    get: () => numbers.getSeries,
    patch: ({ payload }) => numbers.update(payload)
  })
)
