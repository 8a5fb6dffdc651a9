import { Schema } from "effect"
import type { ErrorDetail } from "../Errors.ts"
import { id } from "../Ids.ts"
import { CurrencyCode } from "../money/Currency.ts"
import { toDecimal } from "../money/Decimal.ts"
import { lineTotal, maxMinor } from "../money/Money.ts"
import {
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
import { type Invoice, InvoiceId } from "./Invoice.ts"

export const BillableId = id("bil", "billable")

/** Maximum number of lines in one request. */
export const maxBillablesPerRequest = 1000

const maxDecimals = 12

const Quantity = field(
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
  amountMinor: field(MinorAmount, "Price of one unit, in minor units of the currency: 8800 is 88.00 EUR.", 8800),
  currencyCode: field(CurrencyCode, "Currency of the line: that of the invoice.", "EUR"),
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
  lineTotalMinor: field(
    MinorAmount,
    "Quantity times price, rounded half away from zero to a whole minor unit.",
    22_000
  ),
  ...timestamps
}).annotations({ identifier: "Billable", description: "A line of an invoice." })
export type Billable = typeof Billable.Type

/** A new line. The quantity defaults to 1 and the currency to that of the invoice. */
const NewBillable = body({
  ...billableFields,
  quantity: optionalWithDefault(Quantity, 1),
  currencyCode: optional(field(CurrencyCode, "Must be the currency of the invoice. Default: that currency.", "EUR"))
}).annotations({ description: "A new line." })
export type NewBillable = typeof NewBillable.Type

/** Applies the defaults to a new line and computes its total, which is undefined beyond the exact range. */
export const toLine = ({ currencyCode, id }: Pick<Invoice, "id" | "currencyCode">, line: NewBillable) => {
  const { quantity = 1 } = line
  return {
    ...line,
    invoice: id,
    quantity,
    currencyCode: line.currencyCode ?? currencyCode,
    lineTotalMinor: lineTotal(quantity, line.amountMinor)
  }
}

export const CreateBillables = body({
  invoiceId: field(InvoiceId, "The draft invoice to add the lines to."),
  billables: field(nonEmptyArray(NewBillable, maxBillablesPerRequest), "The new lines. All of them are added, or none.")
}).annotations({ identifier: "CreateBillables", description: "New lines of one draft invoice." })
export const PatchBillable = patch(billableFields).annotations({
  identifier: "PatchBillable",
  description: "The fields of a line to change."
})

type Terms = Pick<Billable, "currencyCode" | "referenceType" | "referenceId"> & {
  readonly lineTotalMinor: number | undefined
}

/** Whether the total of a line is within the exact range. */
export const hasTotal = <L extends Terms>(line: L): line is L & { readonly lineTotalMinor: number } =>
  line.lineTotalMinor !== undefined

/** Validation errors of a line on an invoice in this currency. */
export const lineErrors = (line: Terms, currencyCode: string): ReadonlyArray<ErrorDetail> => {
  const { currencyCode: lineCurrency, referenceId, referenceType } = line
  const [missing, given] =
    referenceId === undefined ? ["referenceId", "referenceType"] : ["referenceType", "referenceId"]
  return [
    ...(lineCurrency === currencyCode
      ? []
      : [
          {
            field: "currencyCode",
            constraint: "currency",
            message: `must be ${currencyCode}, the currency of the invoice, but is ${lineCurrency}`
          } as const
        ]),
    ...((referenceType === undefined) === (referenceId === undefined)
      ? []
      : [{ field: missing, constraint: "required", message: `is required together with ${given}` } as const]),
    ...(hasTotal(line)
      ? []
      : [{ field: "quantity", constraint: "max", message: `times amountMinor must be within ±${maxMinor}` } as const])
  ]
}
