import { data } from "currency-codes"
import { Schema } from "effect"
import { rule } from "../Schemas.ts"

/** What money is not kept in: precious metals, units of account, and the codes for testing and for "none". */
const notMoney = /^X(AG|AU|PD|PT|B[A-D]|DR|SU|UA|TS|XX)$/

/** The decimals of every ISO 4217 currency. The Caribbean guilder is newer than the package's list. */
const decimals: ReadonlyMap<string, number> = new Map([
  ...data.flatMap(({ code, digits }) => (notMoney.test(code) ? [] : [[code, digits] as const])),
  ["XCG", 2]
])

export const CurrencyCode = Schema.String.pipe(
  Schema.filter((code) => decimals.has(code), {
    ...rule("currency", "must be an ISO 4217 currency code such as EUR", { pattern: "^[A-Z]{3}$", examples: ["EUR"] })
  })
)

/** How many decimals of its major unit a currency's minor unit is: 2 for EUR, 0 for JPY, 3 for KWD. */
export const decimalsOf = (code: string) => decimals.get(code) ?? 2
