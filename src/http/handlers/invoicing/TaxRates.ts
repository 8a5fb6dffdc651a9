import { TaxRates } from "../../../layers/taxes/TaxRates.ts"
import { TaxRatesApi } from "../../api/groups/invoicing/TaxRates.ts"
import { handleGroup, provideShared } from "../../server/Handlers.ts"
import { listPage } from "../../server/response/Paging.ts"

export const taxRates = handleGroup(TaxRatesApi, TaxRates.pipe(provideShared(TaxRates.Default)), (taxRates) => ({
  list: ({ query }) => listPage(query, taxRates.page),
  create: ({ payload }) => taxRates.create(payload),
  get: ({ path }) => taxRates.get(path.taxRateId),
  patch: ({ path, payload }) => taxRates.patch(path.taxRateId, payload),
  archive: ({ path }) => taxRates.archive(path.taxRateId)
}))
