import { Schema } from "effect"
import type { Detail } from "../Errors.ts"
import { id } from "../Ids.ts"
import { CurrencyCode } from "../money/Currency.ts"
import { decimalOf } from "../money/Decimal.ts"
import { lineTotal, mostMinor } from "../money/Money.ts"
import {
  body,
  decimal,
  defaulting,
  integer,
  maxProperties,
  nonEmptyArray,
  Order,
  optional,
  patch,
  rule,
  stamps,
  text
} from "../Schemas.ts"
import { type Invoice, InvoiceId } from "./Invoice.ts"

export const BillableId = id("bil", "billable")

/** The most lines one request can add. */
export const mostAtOnce = 1000

const mostDecimals = 12

const Quantity = decimal(-mostMinor, mostMinor, mostDecimals, (value) => decimalOf(value).scale)

/** The most characters of one value. */
export const mostInMetadata = 500
const most = { keys: 50, key: 40 }

const isMetadataKey = Schema.is(text(1, most.key))

const Metadata = Schema.Record({ key: Schema.String, value: text(0, mostInMetadata) }).pipe(
  maxProperties(most.keys),
  Schema.filter(
    (metadata) => Object.keys(metadata).every((key) => isMetadataKey(key)),
    rule("maxLength", `must have keys of 1 to ${most.key} characters`, {
      propertyNames: { minLength: 1, maxLength: most.key }
    })
  )
)

const Minor = integer(-mostMinor, mostMinor)

export const writable = {
  name: text(1, 255),
  quantity: Quantity,
  amountMinor: Minor,
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
  ...writable,
  lineTotalMinor: Minor,
  ...stamps
}).annotations({ identifier: "Billable" })
export type Billable = typeof Billable.Type

/** A line as it is added: of one, in the invoice's currency, unless it says otherwise. */
const NewLine = body({
  ...writable,
  quantity: defaulting(Quantity, 1),
  currencyCode: optional(CurrencyCode)
})
export type NewLine = typeof NewLine.Type

/** The line on its invoice, with what it left out filled in and what it comes to, as far as that can be told. */
export const lineOn = ({ currencyCode, id }: Pick<Invoice, "id" | "currencyCode">, line: NewLine) => {
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
  billables: nonEmptyArray(NewLine, mostAtOnce)
}).annotations({ identifier: "CreateBillables" })
export const PatchBillable = patch(writable).annotations({ identifier: "PatchBillable" })

type Terms = Pick<Billable, "currencyCode" | "referenceType" | "referenceId"> & {
  readonly lineTotalMinor: number | undefined
}

/** Whether what a line comes to can be told. */
export const isTold = <L extends Terms>(line: L): line is L & { readonly lineTotalMinor: number } =>
  line.lineTotalMinor !== undefined

/** What the business objects to in a line of an invoice in this currency. */
export const lineFaults = (line: Terms, currencyCode: string): ReadonlyArray<Detail> => {
  const { currencyCode: own, referenceId, referenceType } = line
  const missing = referenceId === undefined ? "referenceId" : "referenceType"
  return [
    ...(own === currencyCode
      ? []
      : [
          { field: "currencyCode", constraint: "currency", message: `must be the invoice's, ${currencyCode}` } as const
        ]),
    ...((referenceType === undefined) === (referenceId === undefined)
      ? []
      : [{ field: missing, constraint: "required", message: "referenceType and referenceId come together" } as const]),
    ...(isTold(line)
      ? []
      : [
          { field: "quantity", constraint: "max", message: `times amountMinor must stay within ±${mostMinor}` } as const
        ])
  ]
}
