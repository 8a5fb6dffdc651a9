import { data } from "currency-codes"
import { Schema } from "effect"
import { butIs } from "../RejectedValue.ts"
import { rule } from "../Schemas.ts"

/** ISO 4217 codes that are no money: precious metals, units of account, and the codes for testing and for "none". */
const nonMoneyCodes = /^X(AG|AU|PD|PT|B[A-D]|DR|SU|UA|TS|XX)$/

/** Every ISO 4217 currency. The package's list lacks XCG, the Caribbean guilder. */
const codes: ReadonlySet<string> = new Set([
  ...data.flatMap(({ code }) => (nonMoneyCodes.test(code) ? [] : [code])),
  "XCG"
])

export const CurrencyCode = Schema.String.pipe(
  Schema.filter((code) => codes.has(code), {
    ...rule("currency", butIs("must be an ISO 4217 currency code such as EUR"), { pattern: "^[A-Z]{3}$" }),
    description: "Currency of the amounts, as an ISO 4217 code.",
    examples: ["EUR"]
  })
)
