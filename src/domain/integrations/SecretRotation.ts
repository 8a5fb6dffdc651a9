import { requireQuota } from "../Quotas.ts"
import { body, integer, optionalWithDefault } from "../Schemas.ts"

/** Default time that a replaced secret stays valid beside the new one. */
export const defaultOverlapHours = 24

export const RotateSecret = body({
  overlapHours: optionalWithDefault(integer(0, 168), defaultOverlapHours)
}).annotations({ identifier: "RotateSecret" })

/** Fails when a rotation exceeds the quota of secrets. `replaced` counts replaced secrets that are still valid. */
export const requireSecretQuota = (replaced: number, overlapHours: number, max: number) =>
  requireQuota("secrets", { max, used: replaced + 1, adding: overlapHours > 0 ? 1 : 0, field: "overlapHours" })
