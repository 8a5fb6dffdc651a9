import { Quotas } from "../../../layers/quotas/Quotas.ts"
import { LimitsApi } from "../../api/groups/tenancy/Limits.ts"
import { handleGroup, provideShared } from "../../server/Handlers.ts"

export const limits = handleGroup(LimitsApi, Quotas.pipe(provideShared(Quotas.Default)), (quotas) => ({
  list: () => quotas.limits
}))
