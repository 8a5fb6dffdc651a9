import { Either, Schema } from "effect"
import { type ErrorDetail, fieldError, requireNoErrors, type ValidationError } from "../Errors.ts"
import { id } from "../Ids.ts"
import { type VatCategory, vatCategories } from "../money/InvoiceArithmetic.ts"
import { maxPercentDecimals, percent } from "../money/Percent.ts"
import { body, field, maxItems, Order, oneOf, optional, patch, rule, Timestamp, text, timestamps } from "../Schemas.ts"

export const TaxRateId = id("tax", "tax rate")
export type TaxRateId = typeof TaxRateId.Type

export const TaxCategory = field(
  oneOf(...vatCategories),
  "VAT category of EN 16931. S: standard or reduced rate. Z: zero rate. E: exempt. AE: reverse charge. K: supply within " +
    "the EU. G: export. O: outside the scope of VAT. Left out for a tax that is not VAT.",
  "S"
)

/** The VAT categories without tax that must say why. */
const exemptCategories: ReadonlyArray<VatCategory> = ["E", "AE", "K", "G", "O"]

/** Fields that stay changeable. Invoices depend on the others. */
const patchable = {
  name: field(text(1, 100), "Name of the tax, as invoices show it.", "VAT 19 %"),
  exemptionReason: optional(
    field(
      text(1, 500),
      `Sentence on invoices that says why no tax is charged. Required for the categories ${exemptCategories.join(", ")}.`,
      "Reverse charge: the recipient owes the tax."
    )
  ),
  exemptionCode: optional(field(text(1, 30), "Code of the reason for electronic invoices.", "VATEX-EU-AE")),
  order: optional(Order)
}

const fixed = {
  percent: field(
    percent(0),
    `Percentage of the net amount, with at most ${maxPercentDecimals} decimals. It never changes.`,
    19
  ),
  category: optional(TaxCategory)
}

export const TaxRate = Schema.Struct({
  id: TaxRateId,
  name: patchable.name,
  ...fixed,
  exemptionReason: patchable.exemptionReason,
  exemptionCode: patchable.exemptionCode,
  order: patchable.order,
  archivedAt: optional(field(Timestamp, "When it was archived. From then on nothing new can use it.")),
  ...timestamps
}).annotations({
  identifier: "TaxRate",
  description: "A tax with its percentage. Lines of invoices refer to it."
})
export type TaxRate = typeof TaxRate.Type

export const CreateTaxRate = body({ ...patchable, ...fixed }).annotations({
  identifier: "CreateTaxRate",
  description: "A new tax rate. Its percentage and its category never change.",
  examples: [{ name: "VAT 19 %", percent: 19, category: "S" }]
})
export const PatchTaxRate = patch(patchable).annotations({
  identifier: "PatchTaxRate",
  description: "The fields of a tax rate to change."
})

type Terms = Pick<TaxRate, "percent" | "category" | "exemptionReason" | "exemptionCode">

const percentErrors = ({ category, percent }: Terms): ReadonlyArray<ErrorDetail> => {
  if (category === "S" && percent === 0)
    return [{ field: "percent", constraint: "min", message: "must be more than 0 for category S, but is 0" }]
  if (category !== undefined && category !== "S" && percent > 0)
    return [{ field: "percent", constraint: "max", message: `must be 0 for category ${category}, but is ${percent}` }]
  return []
}

const exemptionErrors = ({ category, exemptionCode, exemptionReason }: Terms): ReadonlyArray<ErrorDetail> => {
  if (category !== undefined && exemptCategories.includes(category))
    return exemptionReason === undefined
      ? [{ field: "exemptionReason", constraint: "required", message: `is required for category ${category}` }]
      : []
  const message = `is only for the categories ${exemptCategories.join(", ")}`
  return Object.entries({ exemptionReason, exemptionCode }).flatMap(
    ([name, value]): ReadonlyArray<ErrorDetail> =>
      value === undefined ? [] : [{ field: name, constraint: "unknown", message }]
  )
}

/** The tax rate, if its percentage and its exemption fit its category. */
export const requireValidTaxRate = <A extends Terms>(rate: A): Either.Either<A, ValidationError> =>
  Either.map(requireNoErrors([...percentErrors(rate), ...exemptionErrors(rate)]), () => rate)

/** Fails for a rate that is archived. */
export const requireActiveTaxRate = ({
  archivedAt
}: Pick<TaxRate, "archivedAt">): Either.Either<void, ValidationError> =>
  archivedAt === undefined
    ? Either.void
    : Either.left(fieldError("archivedAt", "state", `is ${archivedAt}; the tax rate is archived already`))

/** Maximum number of taxes on one line. */
export const maxTaxesPerLine = 3

const areDistinct = (ids: ReadonlyArray<string>) => new Set(ids).size === ids.length

/** References to tax rates in a request. */
export const TaxRateIds = Schema.Array(TaxRateId).pipe(
  Schema.filter(areDistinct, rule("unique", "must not contain a tax rate twice", { uniqueItems: true })),
  maxItems(maxTaxesPerLine)
)

/** What the rules need to know about a referenced tax rate. */
type ReferencedRate = Pick<TaxRate, "id" | "category" | "archivedAt">

/**
 * Validation errors of references to tax rates in `field`. A rate that was used before the change can be used again,
 * although it is archived now.
 */
export const taxReferenceErrors = (
  ids: ReadonlyArray<string>,
  rates: ReadonlyMap<string, ReferencedRate>,
  field: string,
  usedBefore: ReadonlyArray<string> = []
): ReadonlyArray<ErrorDetail> => {
  const errors = ids.flatMap((id, index): ReadonlyArray<ErrorDetail> => {
    const path = `${field}[${index}]`
    const rate = rates.get(id)
    if (rate === undefined) return [{ field: path, constraint: "exists", message: "does not exist in this tenant" }]
    return rate.archivedAt === undefined || usedBefore.includes(id)
      ? []
      : [{ field: path, constraint: "state", message: `is archived since ${rate.archivedAt}; use another tax rate` }]
  })
  const vatCount = ids.filter((id) => rates.get(id)?.category !== undefined).length
  return vatCount > 1
    ? [...errors, { field, constraint: "maxItems", message: "must have at most 1 tax rate with a VAT category" }]
    : errors
}

/** The field of a tenant or a contract with the rates of new lines, in requests and in responses. */
export const defaultTaxRateIds = (description: string) => ({
  defaultTaxRateIds: optional(field(TaxRateIds, description, []))
})
export const defaultTaxRates = (description: string) => ({
  defaultTaxRates: optional(field(Schema.Array(TaxRateId), description, []))
})

/** Renames the field of a request to that of the resource. */
export const toDefaultTaxRates = <A extends { readonly defaultTaxRateIds?: unknown }>({
  defaultTaxRateIds,
  ...fields
}: A) => ({
  ...fields,
  // The field has the same type in both, with null in a PATCH.
  ...(defaultTaxRateIds === undefined
    ? {}
    : { defaultTaxRates: defaultTaxRateIds as NonNullable<A["defaultTaxRateIds"]> })
})
