import { Schema } from "effect"
import type { ErrorDetail } from "../Errors.ts"
import { id } from "../Ids.ts"
import { CurrencyCode } from "../money/Currency.ts"
import { toDecimal } from "../money/Decimal.ts"
import { lineTotal, maxMinor } from "../money/Money.ts"
import {
  body,
  decimal,
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

const Quantity = decimal(-maxMinor, maxMinor, maxDecimals, (value) => toDecimal(value).scale)

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
  name: text(1, 255),
  quantity: Quantity,
  amountMinor: MinorAmount,
  currencyCode: CurrencyCode,
  referenceType: optional(text(1, 100)),
  referenceId: optional(text(1, 100)),
  description: optional(text(0, 1024)),
  metadata: optional(Metadata),
  order: optional(Order)
}

export const Billable = Schema.Struct({
  id: BillableId,
  invoice: InvoiceId,
  ...billableFields,
  lineTotalMinor: MinorAmount,
  ...timestamps
}).annotations({ identifier: "Billable" })
export type Billable = typeof Billable.Type

/** A new line. The quantity defaults to 1 and the currency to that of the invoice. */
const NewBillable = body({
  ...billableFields,
  quantity: optionalWithDefault(Quantity, 1),
  currencyCode: optional(CurrencyCode)
})
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
  invoiceId: InvoiceId,
  billables: nonEmptyArray(NewBillable, maxBillablesPerRequest)
}).annotations({ identifier: "CreateBillables" })
export const PatchBillable = patch(billableFields).annotations({ identifier: "PatchBillable" })

type Terms = Pick<Billable, "currencyCode" | "referenceType" | "referenceId"> & {
  readonly lineTotalMinor: number | undefined
}

/** Whether the total of a line is within the exact range. */
export const hasTotal = <L extends Terms>(line: L): line is L & { readonly lineTotalMinor: number } =>
  line.lineTotalMinor !== undefined

/** Validation errors of a line on an invoice in this currency. */
export const lineErrors = (line: Terms, currencyCode: string): ReadonlyArray<ErrorDetail> => {
  const { currencyCode: lineCurrency, referenceId, referenceType } = line
  const missing = referenceId === undefined ? "referenceId" : "referenceType"
  return [
    ...(lineCurrency === currencyCode
      ? []
      : [
          { field: "currencyCode", constraint: "currency", message: `must be the invoice's, ${currencyCode}` } as const
        ]),
    ...((referenceType === undefined) === (referenceId === undefined)
      ? []
      : [{ field: missing, constraint: "required", message: "referenceType and referenceId come together" } as const]),
    ...(hasTotal(line)
      ? []
      : [{ field: "quantity", constraint: "max", message: `times amountMinor must stay within ±${maxMinor}` } as const])
  ]
}
