import { decimal } from "../Schemas.ts"
import { toDecimal } from "./Decimal.ts"

export const maxPercentDecimals = 4

/** A percentage from `min` to 100. */
export const percent = (min: number) => decimal(min, 100, maxPercentDecimals, (value) => toDecimal(value).scale)

/** The smallest percentage above 0. */
export const minPercent = Number(`1e-${maxPercentDecimals}`)
