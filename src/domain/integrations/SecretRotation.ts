import { body, defaulting, integer } from "../Schemas.ts"

/** How long a replaced secret goes on signing beside the new one, unless told otherwise. */
export const usualOverlapHours = 24

export const RotateSecret = body({
  overlapHours: defaulting(integer(0, 168), usualOverlapHours)
}).annotations({ identifier: "RotateSecret" })
