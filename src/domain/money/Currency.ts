import { data } from "currency-codes"
import { Schema } from "effect"
import { butIs } from "../RejectedValue.ts"
import { rule } from "../Schemas.ts"

/** ISO 4217 codes that are no money: precious metals, units of account, and the codes for testing and for "none". */
const nonMoneyCodes = /^X(AG|AU|PD|PT|B[A-D]|DR|SU|UA|TS|XX)$/

/** Decimals of every ISO 4217 currency. The package's list lacks XCG, the Caribbean guilder. */
const decimals: ReadonlyMap<string, number> = new Map([
  ...data.flatMap(({ code, digits }) => (nonMoneyCodes.test(code) ? [] : [[code, digits] as const])),
  ["XCG", 2]
])

export const CurrencyCode = Schema.String.pipe(
  Schema.filter((code) => decimals.has(code), {
    ...rule("currency", butIs("must be an ISO 4217 currency code such as EUR"), { pattern: "^[A-Z]{3}$" }),
    description: "Currency of the amounts, as an ISO 4217 code.",
    examples: ["EUR"]
  })
)

/** Number of decimals of a currency: 2 for EUR, 0 for JPY, 3 for KWD. */
export const currencyDecimals = (code: string) => decimals.get(code) ?? 2
