import { Schema } from "effect"
import { isValidBIC, isValidIBAN } from "ibantools"
import { butIs } from "../RejectedValue.ts"
import { body, field, optional, rule, text } from "../Schemas.ts"

const Iban = Schema.String.pipe(
  Schema.filter(
    (iban) => isValidIBAN(iban),
    rule("format", butIs("must be a valid IBAN without spaces such as DE89370400440532013000"))
  )
)

const Bic = Schema.String.pipe(
  Schema.filter(
    (bic) => bic === bic.toUpperCase() && isValidBIC(bic),
    rule("format", butIs("must be a BIC of 8 or 11 characters such as COBADEFFXXX"))
  )
)

/** The account that clients pay to. */
export const BankAccount = body({
  name: field(text(1, 70), "Holder of the account.", "Harbour Works GmbH"),
  iban: field(Iban, "International bank account number, without spaces.", "DE89370400440532013000"),
  bic: optional(field(Bic, "Identifier of the bank.", "COBADEFFXXX"))
}).annotations({
  identifier: "BankAccount",
  description: "Account that clients pay to, as invoices show it."
})
export type BankAccount = typeof BankAccount.Type
