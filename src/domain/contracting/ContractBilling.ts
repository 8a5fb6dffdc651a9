import { Schema } from "effect"
import { CurrencyCode } from "../money/Currency.ts"
import { field, optional } from "../Schemas.ts"
import { ContractId } from "./Contract.ts"

const Integer = Schema.Number.annotations({ jsonSchema: { type: "integer" } })

export const ContractBilling = Schema.Struct({
  contract: field(ContractId, "The contract."),
  currencyCode: field(CurrencyCode, "Currency of the amounts.", "EUR"),
  issuedMinor: field(Integer, "Net amount of its issued invoices, less its credit notes, in minor units.", 1_250_000),
  draftedMinor: field(Integer, "Net amount of its drafts, in minor units.", 17_820),
  capMinor: optional(field(Integer, "Most that it can bill, in minor units.", 5_000_000)),
  leftMinor: optional(field(Integer, "What it can still bill, in minor units.", 3_732_180))
}).annotations({
  identifier: "ContractBilling",
  description: "What a contract has billed, and what its cap leaves. Void invoices do not count."
})

/** The sums of a contract's invoices. `billedMinor` is what the cap counts: issued and drafted together. */
interface BilledSums {
  readonly billedMinor: number
  readonly draftedMinor: number
  readonly capMinor: number | null
}

/** Splits what a contract has billed. A cap that was lowered since leaves nothing. */
export const splitBilling = ({ billedMinor, capMinor, draftedMinor }: BilledSums) => ({
  issuedMinor: billedMinor - draftedMinor,
  draftedMinor,
  ...(capMinor === null ? {} : { capMinor, leftMinor: Math.max(capMinor - billedMinor, 0) })
})
