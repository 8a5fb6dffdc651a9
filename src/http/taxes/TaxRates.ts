import { TaxRates } from "../../layers/taxes/TaxRates.ts"
import { handleGroup } from "../server/Handlers.ts"
import { listPage } from "../server/response/Paging.ts"
import { TaxRatesApi } from "./TaxRatesApi.ts"

export const taxRates = handleGroup(TaxRatesApi, TaxRates, (taxRates) => ({
  list: ({ query }) => listPage(query, taxRates.page),
  create: ({ payload }) => taxRates.create(payload),
  get: ({ path }) => taxRates.get(path.taxRateId),
  patch: ({ path, payload }) => taxRates.patch(path.taxRateId, payload),
  archive: ({ path }) => taxRates.archive(path.taxRateId)
}))
