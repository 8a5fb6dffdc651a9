import { CreditNoteNumbers } from "../../layers/invoicing/NumberSeries.ts"
import { handleGroup } from "../server/Handlers.ts"
import { CreditNoteSeriesApi } from "./CreditNoteSeriesApi.ts"

export const creditNoteSeries = handleGroup(CreditNoteSeriesApi, CreditNoteNumbers, (numbers) => ({
  get: () => numbers.getSeries,
  patch: ({ payload }) => numbers.update(payload)
}))
