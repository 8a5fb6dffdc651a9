import { Quotas } from "../../layers/quotas/Quotas.ts"
import { handleGroup } from "../server/Handlers.ts"
import { LimitsApi } from "./LimitsApi.ts"

export const limits = handleGroup(LimitsApi, Quotas, (quotas) => ({
  list: () => quotas.limits
}))
