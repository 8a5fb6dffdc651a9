import { requireQuota } from "../quotas/Quotas.ts"
import { body, field, integer, optionalWithDefault } from "../Schemas.ts"

/** Default time that a replaced secret stays valid beside the new one. */
export const defaultOverlapHours = 24

export const RotateSecret = body({
  overlapHours: optionalWithDefault(
    field(integer(0, 168), "Hours for which the replaced secret or URL stays valid beside the new one.", 24),
    defaultOverlapHours
  )
}).annotations({ identifier: "RotateSecret", description: "How long the replaced secret or URL stays valid." })

/** Fails when a rotation exceeds the quota of secrets. `replaced` counts replaced secrets that are still valid. */
export const requireSecretQuota = (replaced: number, overlapHours: number, max: number) =>
  requireQuota("secrets", { max, used: replaced + 1, adding: overlapHours > 0 ? 1 : 0, field: "overlapHours" })
