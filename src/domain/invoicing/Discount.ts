import { Schema } from "effect"
import type { ErrorDetail } from "../Errors.ts"
import { maxMinor } from "../money/Money.ts"
import { maxPercentDecimals, minPercent, percent } from "../money/Percent.ts"
import { body, field, integer, optional, rule, text } from "../Schemas.ts"

/** A share of an amount, or a fixed amount. */
export const Discount = body({
  percent: optional(
    field(percent(minPercent), `Share of the amount, with at most ${maxPercentDecimals} decimals.`, 10)
  ),
  amountMinor: optional(field(integer(1, maxMinor), "Fixed amount, in minor units."))
})
  .pipe(
    Schema.filter(
      (discount) => Object.keys(discount).length === 1,
      rule("required", "must have exactly one of percent and amountMinor", { minProperties: 1, maxProperties: 1 })
    )
  )
  .annotations({
    identifier: "Discount",
    description: "A share of the amount (`percent`) or a fixed amount (`amountMinor`), one of the two.",
    examples: [{ percent: 10 }]
  })

/** The fields of a line or an invoice that grant a discount. */
export const discountFields = (of: string) => ({
  discount: optional(field(Discount, `Discount on ${of}, as a percentage or as a fixed amount.`, { percent: 10 })),
  discountReason: optional(field(text(1, 200), "Reason of the discount, as the invoice shows it.", "Loyalty"))
})

/** A reason needs a discount. */
export const discountReasonErrors = ({
  discount,
  discountReason
}: {
  readonly discount?: typeof Discount.Type
  readonly discountReason?: string
}): ReadonlyArray<ErrorDetail> =>
  discountReason === undefined || discount !== undefined
    ? []
    : [{ field: "discount", constraint: "required", message: "is required together with discountReason" }]
