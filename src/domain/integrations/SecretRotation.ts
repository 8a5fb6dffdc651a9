import { requireQuota } from "../Quotas.ts"
import { body, defaulting, integer } from "../Schemas.ts"

/** How long a replaced secret goes on signing beside the new one, unless told otherwise. */
export const usualOverlapHours = 24

export const RotateSecret = body({
  overlapHours: defaulting(integer(0, 168), usualOverlapHours)
}).annotations({ identifier: "RotateSecret" })

/** Fails when too many secrets would be in use: the new one, those `replaced` earlier, and with an overlap the one before. */
export const requireRotation = (replaced: number, overlapHours: number, max: number) =>
  requireQuota("secrets", { max, used: replaced + 1, adding: overlapHours > 0 ? 1 : 0, field: "overlapHours" })
