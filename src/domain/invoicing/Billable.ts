import { Schema } from "effect"
import type { ErrorDetail } from "../Errors.ts"
import { id } from "../Ids.ts"
import { CurrencyCode } from "../money/Currency.ts"
import { toDecimal } from "../money/Decimal.ts"
import { lineAmounts } from "../money/InvoiceArithmetic.ts"
import { lineTotal, maxMinor } from "../money/Money.ts"
import {
  applyPatch,
  body,
  decimal,
  field,
  integer,
  maxProperties,
  nonEmptyArray,
  Order,
  optional,
  optionalWithDefault,
  patch,
  rule,
  text,
  timestamps
} from "../Schemas.ts"
import { maxTaxesPerLine, TaxRateId, TaxRateIds } from "../taxes/TaxRate.ts"
import { discountFields, discountReasonErrors } from "./Discount.ts"
import { type Invoice, InvoiceId } from "./Invoice.ts"
import { defaultUnitCode, UnitCode } from "./UnitCode.ts"

export const BillableId = id("bil", "billable")

/** Maximum number of lines in one request. */
export const maxBillablesPerRequest = 1000

const maxDecimals = 12

export const Quantity = field(
  decimal(-maxMinor, maxMinor, maxDecimals, (value) => toDecimal(value).scale),
  `How many units are billed, with at most ${maxDecimals} decimals. Negative for a credit.`,
  2.5
)

/** Maximum length of a metadata value, in characters. */
export const maxMetadataValueLength = 500
const maxMetadataKeys = 50
const maxMetadataKeyLength = 40

const isMetadataKey = Schema.is(text(1, maxMetadataKeyLength))

const Metadata = Schema.Record({ key: Schema.String, value: text(0, maxMetadataValueLength) }).pipe(
  maxProperties(maxMetadataKeys),
  Schema.filter(
    (metadata) => Object.keys(metadata).every((key) => isMetadataKey(key)),
    rule("maxLength", `must have keys of 1 to ${maxMetadataKeyLength} characters`, {
      propertyNames: { minLength: 1, maxLength: maxMetadataKeyLength }
    })
  )
)

const MinorAmount = integer(-maxMinor, maxMinor)

export const billableFields = {
  name: field(text(1, 255), "Text of the line on the invoice.", "Pump inspection"),
  quantity: Quantity,
  unitCode: optionalWithDefault(
    field(UnitCode, "Unit of the quantity: a code of UN/ECE Recommendation 20, or of 21 with an X before it.", "HUR"),
    defaultUnitCode
  ),
  amountMinor: field(MinorAmount, "Price of one unit, in minor units of the currency: 8800 is 88.00 EUR.", 8800),
  currencyCode: field(CurrencyCode, "Currency of the line: that of the invoice.", "EUR"),
  ...discountFields("the line, which must have a positive amount"),
  referenceType: optional(
    field(
      text(1, 100),
      "Kind of the external item that the line bills. Together with `referenceId` it can be billed only once.",
      "jira"
    )
  ),
  referenceId: optional(field(text(1, 100), "Identifier of the external item that the line bills.", "NORTH-318")),
  description: optional(field(text(0, 1024), "Second text of the line.", "Both pumps, with a report")),
  metadata: optional(
    field(Metadata, `Up to ${maxMetadataKeys} texts of your own, by keys of your own.`, { costCentre: "4711" })
  ),
  order: optional(Order)
}

export const Billable = Schema.Struct({
  id: BillableId,
  invoice: field(InvoiceId, "The invoice that has the line."),
  ...billableFields,
  taxRates: field(Schema.Array(TaxRateId), "Tax rates of the line.", []),
  discountMinor: field(integer(0, maxMinor), "What the discount takes off the line, in minor units.", 2200),
  lineTotalMinor: field(
    MinorAmount,
    "Net amount: quantity times price, rounded half away from zero to a whole minor unit, less the discount.",
    19_800
  ),
  ...timestamps
}).annotations({ identifier: "Billable", description: "A line of an invoice." })
export type Billable = typeof Billable.Type

const taxRateIds = field(
  TaxRateIds,
  `Tax rates of the line: up to ${maxTaxesPerLine}, at most one of them with a VAT category. [] means no tax.`,
  []
)

/** The tax rates of new lines. */
export const newTaxRateIds = optional(
  field(taxRateIds, "Tax rates of the line. [] means no tax. Default: those of the contract, else of the tenant.", [])
)

/** A new line. The quantity defaults to 1 and the currency to that of the invoice. */
const NewBillable = body({
  ...billableFields,
  quantity: optionalWithDefault(Quantity, 1),
  currencyCode: optional(field(CurrencyCode, "Must be the currency of the invoice. Default: that currency.", "EUR")),
  taxRateIds: newTaxRateIds
}).annotations({ description: "A new line." })
export type NewBillable = typeof NewBillable.Type

/**
 * Applies the defaults to a new line and computes its amounts. The total is undefined beyond the exact range.
 * `defaultTaxRates` are those of the contract or of the tenant.
 */
export const toLine = (
  { currencyCode, id }: Pick<Invoice, "id" | "currencyCode">,
  { taxRateIds, ...line }: NewBillable,
  defaultTaxRates: ReadonlyArray<TaxRateId>
) => {
  const { quantity = 1 } = line
  return withAmounts({
    ...line,
    invoice: id,
    quantity,
    currencyCode: line.currencyCode ?? currencyCode,
    taxRates: taxRateIds ?? defaultTaxRates
  })
}

export const CreateBillables = body({
  invoiceId: field(InvoiceId, "The draft invoice to add the lines to."),
  billables: field(nonEmptyArray(NewBillable, maxBillablesPerRequest), "The new lines. All of them are added, or none.")
}).annotations({ identifier: "CreateBillables", description: "New lines of one draft invoice." })
export const PatchBillable = patch({ ...billableFields, taxRateIds }).annotations({
  identifier: "PatchBillable",
  description: "The fields of a line to change."
})

type AmountTerms = Pick<Billable, "quantity" | "amountMinor" | "discount">

/** Adds the amounts that follow from the terms of a line. */
export const withAmounts = <L extends AmountTerms>(line: L) => {
  const { discountMinor = 0, lineTotalMinor } = lineAmounts(line) ?? {}
  return { ...line, discountMinor, lineTotalMinor }
}

/** Applies a PATCH to a line. */
export const patchLine = (line: Billable, { taxRateIds, ...change }: typeof PatchBillable.Type) =>
  withAmounts({ ...applyPatch<Billable>(line, change), taxRates: taxRateIds ?? line.taxRates })

type Terms = AmountTerms &
  Pick<Billable, "currencyCode" | "discountReason" | "referenceType" | "referenceId"> & {
    readonly lineTotalMinor: number | undefined
  }

/** Whether the total of a line is within the exact range. */
export const hasTotal = <L extends Pick<Terms, "lineTotalMinor">>(
  line: L
): line is L & { readonly lineTotalMinor: number } => line.lineTotalMinor !== undefined

const currencyErrors = ({ currencyCode }: Terms, expected: string): ReadonlyArray<ErrorDetail> =>
  currencyCode === expected
    ? []
    : [
        {
          field: "currencyCode",
          constraint: "currency",
          message: `must be ${expected}, the currency of the invoice, but is ${currencyCode}`
        }
      ]

/** Kind and identifier of an external item come together. */
export const referencePairErrors = ({
  referenceId,
  referenceType
}: {
  readonly referenceId?: string | undefined
  readonly referenceType?: string | undefined
}): ReadonlyArray<ErrorDetail> => {
  if ((referenceType === undefined) === (referenceId === undefined)) return []
  const [missing, given] =
    referenceId === undefined ? ["referenceId", "referenceType"] : ["referenceType", "referenceId"]
  return [{ field: missing, constraint: "required", message: `is required together with ${given}` }]
}

const amountErrors = (line: Terms): ReadonlyArray<ErrorDetail> => {
  const { amountMinor, discount, quantity } = line
  const product = lineTotal(quantity, amountMinor)
  if (product === undefined)
    return [{ field: "quantity", constraint: "max", message: `times amountMinor must be within ±${maxMinor}` }]
  if (discount === undefined) return []
  if (product <= 0)
    return [
      {
        field: "discount",
        constraint: "min",
        message: `is only for a line with a positive amount, but quantity times amountMinor is ${product}`
      }
    ]
  const { amountMinor: fixedAmount = 0 } = discount
  return fixedAmount <= product
    ? []
    : [
        {
          field: "discount.amountMinor",
          constraint: "max",
          message: `must be at most ${product}, the amount of the line, but is ${fixedAmount}`
        }
      ]
}

/** Validation errors of a line on an invoice in this currency. */
export const lineErrors = (line: Terms, currencyCode: string): ReadonlyArray<ErrorDetail> => [
  ...currencyErrors(line, currencyCode),
  ...discountReasonErrors(line),
  ...referencePairErrors(line),
  ...amountErrors(line)
]
