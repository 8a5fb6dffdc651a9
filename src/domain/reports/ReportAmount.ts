import { fieldError } from "../Errors.ts"
import { maxMinor } from "../money/Money.ts"
import { integer } from "../Schemas.ts"

/** An amount in minor units, or a sum of them. */
export const ReportAmount = integer(-maxMinor, maxMinor)

/** The error of a request whose response would have a sum that a JSON number does not hold exactly. */
export const sumTooLarge = (field: string) =>
  fieldError(field, "max", `leads to a sum beyond ${maxMinor}, which cannot be sent exactly`)

/** What operations say of that error. */
export const rejectedSums = "sums beyond 9007199254740991 (`max`)"
