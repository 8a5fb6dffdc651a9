import { Schema } from "effect"
import type { ErrorDetail } from "../Errors.ts"
import { CountryCode } from "../locale/CountryCode.ts"
import { LocalDate } from "../locale/TimeZone.ts"
import { CurrencyCode } from "../money/Currency.ts"
import { toDecimal } from "../money/Decimal.ts"
import { butIs } from "../RejectedValue.ts"
import { combineChecks, field, optional, text } from "../Schemas.ts"

const maxRate = 1_000_000_000
const maxRateDecimals = 10

const rateChecks = combineChecks<number>(
  {
    test: (rate) => rate > 0,
    constraint: "min",
    message: butIs("must be greater than 0"),
    jsonSchema: { exclusiveMinimum: 0 }
  },
  {
    test: (rate) => rate <= maxRate,
    constraint: "max",
    message: butIs(`must be at most ${maxRate}`),
    jsonSchema: { maximum: maxRate }
  },
  {
    test: (rate) => toDecimal(rate).scale <= maxRateDecimals,
    constraint: "format",
    message: butIs(`must have at most ${maxRateDecimals} decimals`)
  }
)
const ExchangeRate = Schema.Number.pipe(Schema.filter(rateChecks.test, rateChecks.annotations))

/** What a draft says beside its lines and amounts, with the terms of EN 16931. */
export const headerFields = {
  buyerReference: optional(
    field(
      text(1, 200),
      "What the client identifies the invoice by, such as a Leitweg-ID (BT-10).",
      "04011000-1234512345-06"
    )
  ),
  purchaseOrder: optional(field(text(1, 200), "Number of the client's purchase order (BT-13).", "PO-4711")),
  notes: optional(field(text(1, 2000), "Text for the client about the whole invoice (BT-22).", "Thank you.")),
  serviceFrom: optional(field(LocalDate, "First day of what is billed (BT-73).", "2026-11-01")),
  serviceTo: optional(field(LocalDate, "Last day of what is billed (BT-74), not before `serviceFrom`.", "2026-11-30")),
  deliverToCountry: optional(
    field(CountryCode, "Country that goods or services are delivered to (BT-80), as an ISO 3166-1 code.", "DE")
  ),
  taxCurrencyCode: optional(
    field(
      CurrencyCode,
      "Currency that the tax is accounted in (BT-6), if it is another than that of the invoice. Needs `taxCurrencyRate`.",
      "SEK"
    )
  ),
  taxCurrencyRate: optional(
    field(
      ExchangeRate,
      `Units of \`taxCurrencyCode\` for one unit of the invoice's currency, with at most ${maxRateDecimals} decimals.`,
      11.2345
    )
  )
}

interface Header {
  readonly currencyCode: string
  readonly serviceFrom?: string
  readonly serviceTo?: string
  readonly taxCurrencyCode?: string
  readonly taxCurrencyRate?: number
}

/** Dates of this form compare as texts. */
const servicePeriodErrors = ({ serviceFrom, serviceTo }: Header): ReadonlyArray<ErrorDetail> =>
  serviceFrom === undefined || serviceTo === undefined || serviceFrom <= serviceTo
    ? []
    : [
        {
          field: "serviceTo",
          constraint: "min",
          message: `must not be before serviceFrom, ${serviceFrom}, but is ${serviceTo}`
        }
      ]

const taxCurrencyErrors = ({ currencyCode, taxCurrencyCode, taxCurrencyRate }: Header): ReadonlyArray<ErrorDetail> => {
  const [missing, given] =
    taxCurrencyCode === undefined ? ["taxCurrencyCode", "taxCurrencyRate"] : ["taxCurrencyRate", "taxCurrencyCode"]
  return [
    ...((taxCurrencyCode === undefined) === (taxCurrencyRate === undefined)
      ? []
      : [{ field: missing, constraint: "required" as const, message: `is required together with ${given}` }]),
    ...(taxCurrencyCode === currencyCode
      ? [
          {
            field: "taxCurrencyCode",
            constraint: "currency" as const,
            message: `must be another currency than that of the invoice, ${currencyCode}`
          }
        ]
      : [])
  ]
}

/** Validation errors between the fields of an invoice's header. */
export const headerErrors = (header: Header): ReadonlyArray<ErrorDetail> => [
  ...servicePeriodErrors(header),
  ...taxCurrencyErrors(header)
]
